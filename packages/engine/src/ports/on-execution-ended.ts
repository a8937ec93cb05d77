import type { Execution } from "./executions.ts";

/**
 * What a service does once a run has ended: its figures, the slots that it held, what it has cost its client. The record
 * says how it ended. Called before the record leaves the open index, by every finisher of the close, several at once if
 * need be, and again until that has happened: everything in it can be done twice.
 */
export type OnExecutionEnded = (execution: Execution) => Promise<void>;
