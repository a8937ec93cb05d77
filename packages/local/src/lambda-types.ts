/** What a Lambda invocation answers: JSON text of its result, or the error that left its handler. */
export type LambdaResult =
  | { ok: true; payload: string }
  | { ok: false; errorType: string; errorMessage: string; trace: string[] };

/**
 * Invokes a function as Step Functions does. `payload` is JSON text. Rejects only when the Lambda service itself would
 * (function unknown, killed, out of time); the rejection's `name` is the ASL error, such as `Lambda.Unknown`. `onBegin`
 * is called when the function starts to run: it may have waited for its turn, or had to be loaded.
 */
export type InvokeLambda = (
  functionArn: string,
  payload: string,
  signal?: AbortSignal,
  onBegin?: () => void,
) => Promise<LambdaResult>;
