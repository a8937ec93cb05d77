import type { Generation } from "@nova/engine";
import type { Workflow } from "@nova/workflow";
import type { ShownExecution, ShownTrace } from "./shown.ts";

/** What is recorded of runs, here or on a server. */
export interface Records {
  /** Throws where there is none. */
  execution(id: string): Promise<ShownExecution>;
  /** Newest first. */
  executions(query: { workflow: string }): AsyncIterable<ShownExecution>;
  /** `full`: with code, contexts and logs. */
  trace(id: string, options: { full: boolean }): Promise<ShownTrace>;
  /** Code that models wrote. */
  generations(workflow: string): Promise<Generation[]>;
  /** A version as it was published. */
  workflow(id: string, version: number): Promise<Workflow>;
  /** What a reference in a context of the execution stands for; null where it was erased. */
  blob(execution: string, sha256: string): Promise<Uint8Array | null>;
}
