/** An error as AWS sends it: `name` becomes `__type`, which the SDK turns back into the class of that name. */
export class AwsError extends Error {
  override readonly name: string;
  readonly status: number;

  constructor(name: string, message: string, status = 400) {
    super(message);
    this.name = name;
    this.status = status;
  }
}

const quoted = (name: string, label: string) => (detail: string) => new AwsError(name, `${label}: '${detail}'`);

export const invalidArn = quoted("InvalidArn", "Invalid Arn");
export const invalidName = quoted("InvalidName", "Invalid Name");
export const invalidToken = quoted("InvalidToken", "Invalid Token");
export const invalidOutput = quoted("InvalidOutput", "Invalid Output");
export const invalidDefinition = quoted("InvalidDefinition", "Invalid State Machine Definition");
export const invalidExecutionInput = quoted("InvalidExecutionInput", "Invalid State Machine Execution Input");
export const stateMachineDoesNotExist = quoted("StateMachineDoesNotExist", "State Machine Does Not Exist");
export const stateMachineAlreadyExists = quoted("StateMachineAlreadyExists", "State Machine Already Exists");
export const executionDoesNotExist = quoted("ExecutionDoesNotExist", "Execution Does Not Exist");
export const executionAlreadyExists = quoted("ExecutionAlreadyExists", "Execution Already Exists");
export const taskTimedOut = quoted("TaskTimedOut", "Task Timed Out");
export const resourceNotFound = quoted("ResourceNotFound", "Resource not found");

export function validation(message: string): AwsError {
  return new AwsError("ValidationException", message);
}

export function constraint(field: string, value: unknown, rule: string): AwsError {
  const what = value === undefined ? "Value" : `Value '${value}'`;
  return validation(`1 validation error detected: ${what} at '${field}' failed to satisfy constraint: Member ${rule}`);
}
