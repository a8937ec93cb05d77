import type { Execution } from "../ports/executions.ts";
import type { WaitingTask } from "../ports/tasks.ts";

/** The state that Step Functions passes from task to task: only the position of a run. */
export interface RunPosition {
  execution: { id: string; workflowId: string; version: number };
  /** `""` on the main line. */
  scope: string;
  /** The number of the entry before the node. */
  seq: number;
}

export interface NodeEvent extends RunPosition {
  node: string;
  /** How often Step Functions has retried the task of a node that runs code. Older state machines leave it out. */
  retries?: number;
}

/** The input of the two tasks of a node that waits. `waited` is true for the task after the wait. */
export interface WaitEvent extends NodeEvent {
  waited?: boolean;
}

/** The error that a Catch of Step Functions adds to the input of the next state. */
export interface CaughtError {
  Error: string;
  Cause: string;
}

export interface TaskAnswer extends RunPosition {
  /** Label of the edge taken, for the Choice state after a decision. */
  decision?: string;
  /**
   * Only if a decision leads back to an earlier node while the history is nearly full: the further execution in which
   * the run continues.
   */
  continuation?: Continuation;
  count?: number;
  items?: readonly (number | { index: number; tool: string })[];
  /** For readers of the Step Functions console; no code depends on it. */
  summary: { node: string; set: string[]; deleted: string[]; executionTimeMs: number; reused?: true };
}

/** The further execution in which a run continues when the history of Step Functions is nearly full. */
export interface Continuation {
  /** The ARN of the state machine version with which the run started. */
  arn: string;
  name: string;
  number: number;
  input: RunPosition & { resume: string };
}

/** The answer of a task whose code still runs. The chain has the turn of the node, but no entry yet. */
export interface RunningAnswer extends RunPosition {
  running: true;
  /** Seconds until Step Functions runs the task again to look for the result. */
  pause: number;
  /**
   * Only between two attempts: a sentence for people. It says that the last attempt failed, and when the next attempt
   * begins.
   */
  retry?: string;
}

/** The answer of the end node's task, which is the output of the state machine's execution. */
export interface EndAnswer extends RunPosition {
  status: "completed";
  /** Hash of the close entry. With this hash, a reader can later prove the whole chain. */
  tip: string;
}

export function eventOf({ execution: id, workflowId, version, scope, seq, node }: WaitingTask): NodeEvent {
  return { execution: { id, workflowId, version }, scope, seq: seq - 1, node };
}

type Started = Pick<Execution, "id" | "workflowId" | "version" | "client">;

export function firstPosition({ id, workflowId, version }: Omit<Started, "client">): RunPosition {
  return { execution: { id, workflowId, version }, scope: "", seq: 0 };
}

/**
 * The input that starts a state machine: the position of the run, and the client, which the inputs of later states
 * lack.
 */
export type StartInput = RunPosition & Pick<Execution, "client">;

/** Builds the input of the state machine. A repeated start has the same input. */
export function startInput(record: Started): string {
  return JSON.stringify({ ...firstPosition(record), client: record.client } satisfies StartInput);
}
