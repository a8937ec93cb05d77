/** The outcome of an invocation: the JSON text of its result, or the error that left the handler. */
export type LambdaResult =
  | { ok: true; payload: string }
  | { ok: false; errorType: string; errorMessage: string; trace: string[] };

/**
 * Invokes a function as Step Functions does. `payload` is JSON text. If the handler throws an error, the promise
 * resolves with this error as a `LambdaResult`. It rejects only with errors of the Lambda service itself: the function
 * is unknown, was killed, or ran out of time. The `name` of such an error is its name in ASL, such as `Lambda.Unknown`.
 */
export type InvokeLambda = (functionArn: string, payload: string, signal?: AbortSignal) => Promise<LambdaResult>;
