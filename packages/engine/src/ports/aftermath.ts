import type { Execution } from "./executions.ts";

/** What a service does once a run has ended: its figures, the slots that it held, what it has cost its client. */
export interface Aftermath {
  /**
   * Of a record that says how it ended. Called before the record leaves the open index, by whoever finishes the close,
   * several at once if need be, and again until that has happened: everything in it can be done twice.
   */
  ended(execution: Execution): Promise<void>;
}
