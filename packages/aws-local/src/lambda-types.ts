/** The outcome of an invocation: the JSON text of its result, or the error that left the handler. */
export type LambdaResult =
  | { ok: true; payload: string }
  | { ok: false; errorType: string; errorMessage: string; trace: string[] };

/**
 * Invokes a function as Step Functions does. `payload` is JSON text. Rejects only if the Lambda service itself would
 * (function unknown, killed, out of time). The rejection's `name` is the ASL error, such as `Lambda.Unknown`.
 */
export type InvokeLambda = (functionArn: string, payload: string, signal?: AbortSignal) => Promise<LambdaResult>;
