import type { Execution } from "../ports/executions.ts";
import type { WaitingTask } from "../ports/tasks.ts";

/** The state that Step Functions carries: only the position of a run. */
export interface RunPosition {
  execution: { id: string; workflowId: string; version: number };
  /** `""` on the main line. */
  scope: string;
  /** Number of the link directly before. */
  seq: number;
}

export interface NodeEvent extends RunPosition {
  node: string;
  /** How often Step Functions has retried the task of a node that runs code; earlier state machines do not say. */
  retries?: number;
}

/** Input of the two tasks of a node that waits: `waited` marks the task after the pause. */
export interface WaitEvent extends NodeEvent {
  waited?: boolean;
}

/** `error` is what a Catch hands on. */
export interface CaughtError {
  Error: string;
  Cause: string;
}

export interface TaskAnswer extends RunPosition {
  /** Label of the edge taken, for the Choice state after a decision. */
  decision?: string;
  /** Only if a decision leads back while the history is nearly full: the execution that continues. */
  continuation?: Continuation;
  count?: number;
  items?: number[];
  /** For readers of the Step Functions console; no code depends on it. */
  summary: { node: string; set: string[]; deleted: string[]; executionTimeMs: number; reused?: true };
}

/** The further execution in which a run continues when the history of Step Functions is nearly full. */
export interface Continuation {
  /** Version of the state machine: the one that runs already. */
  arn: string;
  name: string;
  number: number;
  input: RunPosition & { resume: string };
}

/** The answer of a long node's task while its code runs on. The chain has only the turn. */
export interface RunningAnswer extends RunPosition {
  running: true;
  /** Seconds until the task is to look again. */
  pause: number;
  /** Between two attempts: that one failed, for people. */
  retry?: string;
}

/** The answer of the end node's task, which is the output of the state machine's execution. */
export interface EndAnswer extends RunPosition {
  status: "completed";
  /** Hash of the close entry. It proves the whole chain later. */
  tip: string;
}

export function eventOf({ execution: id, workflowId, version, scope, seq, node }: WaitingTask): NodeEvent {
  return { execution: { id, workflowId, version }, scope, seq: seq - 1, node };
}

type Started = Pick<Execution, "id" | "workflowId" | "version" | "client">;

export function firstPosition({ id, workflowId, version }: Omit<Started, "client">): RunPosition {
  return { execution: { id, workflowId, version }, scope: "", seq: 0 };
}

/** Whose run it is, beside where it is: only the start of a state machine's execution says so. */
export type StartInput = RunPosition & Pick<Execution, "client">;

/** Input of the state machine; the same each time a start is repeated. */
export function startInput(record: Started): string {
  return JSON.stringify({ ...firstPosition(record), client: record.client } satisfies StartInput);
}
