/** ARNs of the Lambda functions that a state machine calls. */
export interface FunctionArns {
  runNode: string;
  settleNode: string;
  closeExecution: string;
  /** Keeps the token of a task that people or events answer. */
  requestApproval: string;
}
