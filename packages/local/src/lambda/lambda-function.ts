/** What a handler learns about its invocation: the part of Lambda's context object that does not belong to callbacks. */
export interface LambdaContext {
  functionName: string;
  functionVersion: string;
  invokedFunctionArn: string;
  memoryLimitInMB: string;
  awsRequestId: string;
  logGroupName: string;
  logStreamName: string;
  callbackWaitsForEmptyEventLoop: boolean;
  getRemainingTimeInMillis(): number;
}

export interface LambdaFunction {
  handler(event: unknown, context: LambdaContext): Promise<unknown>;
  timeoutSeconds: number;
}

/** By function name. */
export type LambdaFunctions = Record<string, LambdaFunction>;

/** The Lambda service itself failed the invocation; `name` is the error that Step Functions reports. */
export class LambdaServiceError extends Error {
  override readonly name: string;

  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** With or without an alias or version behind the name. */
const FUNCTION_ARN = /^arn:aws[\w-]*:lambda:[\w-]+:\d{12}:function:([\w-]+)(?::([\w$-]+))?$/;

/** @throws LambdaServiceError where the ARN names no function */
export function functionNameOf(arn: string): string {
  const name = FUNCTION_ARN.exec(arn)?.[1];
  if (name === undefined) throw functionNotFound(arn);
  return name;
}

export function functionNotFound(arn: string): LambdaServiceError {
  return new LambdaServiceError("Lambda.ResourceNotFoundException", `Function not found: ${arn}`);
}

/** What a killed or crashed function looks like from outside: there is no answer, so there is no error type either. */
export function killed(): LambdaServiceError {
  return new LambdaServiceError(
    "Lambda.Unknown",
    "The cause could not be determined because Lambda did not return an error type. The function was killed.",
  );
}
