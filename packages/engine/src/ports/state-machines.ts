export interface StateMachines {
  /** Creates or updates the machine of a workflow and publishes a version; answers the version's ARN. */
  publish(name: string, definition: string, description: string): Promise<string>;
  /** StartExecution, idempotent for the same name and input. */
  start(stateMachineArn: string, name: string, input: string): Promise<void>;
  /** StopExecution; an execution that is unknown or over is success. */
  stop(stateMachineArn: string, name: string, error: string, cause: string): Promise<void>;
  /** SendTaskSuccess; false: nobody waits with this token any more. */
  answerTask(token: string, output: string): Promise<boolean>;
  /**
   * Names of a machine's executions that are going on, of all its versions; eventually consistent. The one with a run's
   * own name goes on as long as any further one does: it waits for it.
   */
  running(stateMachineArn: string): Promise<ReadonlySet<string>>;
  /** Null: there is no such execution. */
  describe(stateMachineArn: string, name: string): Promise<StateMachineRun | null>;
}

export interface StateMachineRun {
  status: "running" | "succeeded" | "failed" | "timed_out" | "aborted";
  error?: string;
  cause?: string;
}
