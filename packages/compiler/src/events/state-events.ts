/**
 * Events that a state adds to the history of its execution when nothing is retried (AWS Step Functions,
 * GetExecutionHistory; the local Step Functions records the same). A task that fails and is caught has as many.
 */
export const stateEvents = {
  /** Entered, scheduled, started, succeeded, exited. */
  task: 5,
  /** One more: submitted. */
  tokenTask: 6,
  pass: 2,
  choice: 2,
  wait: 2,
  fail: 1,
  /** Entered, started, succeeded, exited; what is inside comes on top. */
  parallel: 4,
  map: 4,
  /** Of a Map whose items are executions of their own: started, succeeded. */
  mapRun: 2,
  /** Started, succeeded. */
  iteration: 2,
  /** The execution's own start and end. */
  execution: 2,
} as const;

/** Step Functions ends an execution that has so many events. */
export const historyLimit = 25_000;
