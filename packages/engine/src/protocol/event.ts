import type { Execution } from "../ports/executions.ts";
import type { WaitingTask } from "../ports/tasks.ts";

/** What Step Functions carries: only where a run is. */
export interface RunPosition {
  execution: { id: string; workflowId: string; version: number };
  /** `""` on the main line. */
  scope: string;
  /** Number of the link directly before. */
  seq: number;
}

/** Input of the tasks of one node. */
export interface NodeEvent extends RunPosition {
  node: string;
  /** How often Step Functions has retried the task of a node that runs code; earlier state machines do not say. */
  retries?: number;
}

/** Input of the two tasks of a node that waits: `waited` is the one behind the pause. */
export interface WaitEvent extends NodeEvent {
  waited?: boolean;
}

/** `error` is what a Catch hands on. */
export interface CaughtError {
  Error: string;
  Cause: string;
}

export interface TaskAnswer extends RunPosition {
  /** Label of the edge taken, for the Choice behind a decision. */
  decision?: string;
  /** Of a decision that leads back where the history is nearly full: what goes on instead. */
  continuation?: Continuation;
  /** Of a map: how many items it has, and their numbers. */
  count?: number;
  items?: number[];
  /** For whoever reads the Step Functions console; nothing depends on it. */
  summary: { node: string; set: string[]; deleted: string[]; executionTimeMs: number; reused?: true };
}

/** What a decision answers that leads back where the history of Step Functions is nearly full. */
export interface Continuation {
  /** Version of the state machine: the one that runs already. */
  arn: string;
  name: string;
  number: number;
  input: RunPosition & { resume: string };
}

/** What the task of a long node answers while its code runs on: nothing is in the chain but the turn. */
export interface RunningAnswer extends RunPosition {
  running: true;
  /** Seconds until the task is to look again. */
  pause: number;
  /** Between two attempts: that one failed, for people. */
  retry?: string;
}

/** What the end node's task answers: the output of the state machine's execution. */
export interface EndAnswer extends RunPosition {
  status: "completed";
  /** Hash of the close entry: whoever keeps it can prove the whole chain later. */
  tip: string;
}

/** The event with which Step Functions asked for this task. */
export function eventOf({ execution: id, workflowId, version, scope, seq, node }: WaitingTask): NodeEvent {
  return { execution: { id, workflowId, version }, scope, seq: seq - 1, node };
}

type Started = Pick<Execution, "id" | "workflowId" | "version" | "client">;

/** Where a run is before its first node. */
export function firstPosition({ id, workflowId, version }: Omit<Started, "client">): RunPosition {
  return { execution: { id, workflowId, version }, scope: "", seq: 0 };
}

/** Whose run it is, beside where it is: only the start of a state machine's execution says so. */
export type StartInput = RunPosition & Pick<Execution, "client">;

/** Input of the state machine; the same each time a start is repeated. */
export function startInput(record: Started): string {
  return JSON.stringify({ ...firstPosition(record), client: record.client } satisfies StartInput);
}
