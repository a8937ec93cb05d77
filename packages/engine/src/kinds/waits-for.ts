import type { RawJson } from "@nova/workflow";

/** What a node at work waits for; field names are public. `until` is ISO 8601; null where nothing ends the wait but an answer. */
export type WaitsFor =
  | { kind: "time"; until: string | null }
  | { kind: "retry"; until: string }
  | { kind: "workflow"; until: null; execution_id: string }
  | { kind: "approval"; until: string | null; task_id: string; message: string; choices: string[] }
  | { kind: "event"; until: string | null; task_id: string; pattern: RawJson | null };
