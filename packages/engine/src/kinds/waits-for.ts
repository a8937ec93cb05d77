import type { RawJson } from "@nova/workflow";

/** The wait of a node at work; its field names are public. `until` is ISO 8601, and null if only an answer ends the wait. */
export type WaitsFor =
  | { kind: "time"; until: string | null }
  | { kind: "retry"; until: string }
  | { kind: "workflow"; until: null; execution_id: string }
  | { kind: "approval"; until: string | null; task_id: string; message: string; choices: string[] }
  | { kind: "event"; until: string | null; task_id: string; pattern: RawJson | null };
