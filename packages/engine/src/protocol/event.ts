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
  summary: { node: string; set: string[]; deleted: string[]; executionTimeMs: number };
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
