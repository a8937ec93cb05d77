import { AwsError } from "../../aws-http/aws-error.ts";

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
