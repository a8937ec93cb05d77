/** The outcome of an invocation: the JSON text of its result, or the error that left the handler. */
export type LambdaResult =
  | { ok: true; payload: string }
  | { ok: false; errorType: string; errorMessage: string; trace: string[] };

/**
 * Invokes a function as Step Functions does. `payload` is JSON text. An error that the handler throws is a result.
 * Rejects only with errors of the Lambda service itself (function unknown, killed, out of time); `name` is then the
 * error's name in ASL, such as `Lambda.Unknown`.
 */
export type InvokeLambda = (functionArn: string, payload: string, signal?: AbortSignal) => Promise<LambdaResult>;
