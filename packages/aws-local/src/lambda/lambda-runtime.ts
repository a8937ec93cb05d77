import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../clock.ts";
import type { InvokeLambda, LambdaResult } from "../lambda-types.ts";

/** Lambda's limit for the request of a synchronous invocation. The response may be 100 bytes longer. */
export const PAYLOAD_LIMIT_BYTES = 6 * 1024 * 1024;
const RESPONSE_LIMIT_BYTES = PAYLOAD_LIMIT_BYTES + 100;

export interface LambdaFunction {
  handler(event: unknown, context: LambdaContext): Promise<unknown>;
  timeoutSeconds: number;
}

/** The functions of a runtime, by name. */
export type LambdaFunctions = Record<string, LambdaFunction>;

/** The context of an invocation: Lambda's context object without the part for callbacks. */
export type LambdaContext = ReturnType<typeof contextOf>;

export type Invocation = ReturnType<typeof createInvocation>;

/**
 * Runs functions in this process, in which a handler cannot be stopped. After an abort or a timeout the handler
 * continues, and its result is dropped.
 */
export function createLambdaRuntime(functions: LambdaFunctions, clock: Clock = systemClock): InvokeLambda {
  const timeouts = new Map(Object.entries(functions).map(([name, { timeoutSeconds }]) => [name, timeoutSeconds]));
  return async (functionArn, payload, signal) => {
    const invocation = createInvocation(functionArn, payload, timeouts, clock);
    const call = callHandler(functions[invocation.functionName] as LambdaFunction, invocation, clock.now);
    return raceDeadline(call, invocation, clock, signal);
  };
}

/** Matches a function's ARN, with or without an alias or a version at its end. */
const FUNCTION_ARN = /^arn:aws[\w-]*:lambda:[\w-]+:\d{12}:function:([\w-]+)(?::([\w$-]+))?$/;

/**
 * Checks an invocation and gives it an id and a deadline. Throws errors with the names that Step Functions reports.
 * `timeouts` has the timeout of each function in seconds.
 */
export function createInvocation(
  functionArn: string,
  payload: string,
  timeouts: ReadonlyMap<string, number>,
  clock: Clock,
) {
  const functionName = FUNCTION_ARN.exec(functionArn)?.[1] ?? "";
  const timeoutSeconds = timeouts.get(functionName);
  if (timeoutSeconds === undefined) {
    throw serviceError("Lambda.ResourceNotFoundException", `Function not found: ${functionArn}`);
  }
  if (Buffer.byteLength(payload) > PAYLOAD_LIMIT_BYTES) {
    const message = `Request must be smaller than ${PAYLOAD_LIMIT_BYTES} bytes for the InvokeFunction operation`;
    throw serviceError("Lambda.RequestTooLargeException", message);
  }
  /** Milliseconds since the epoch. */
  const deadlineMs = clock.now() + timeoutSeconds * 1000;
  return { functionArn, functionName, payload, requestId: randomUUID(), timeoutSeconds, deadlineMs };
}

function serviceError(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

/**
 * Creates the error that a caller gets if the function was killed or crashed. Its name is `Lambda.Unknown`, because the
 * function could not report an error of its own.
 */
export function killedError(): Error {
  const why = "The cause could not be determined because Lambda did not return an error type. The function was killed.";
  return serviceError("Lambda.Unknown", why);
}

/**
 * Waits for the first of three events: the handler has a result, the time is over, or `signal` aborts. In the last case
 * it rejects with `killed()`.
 */
export async function raceDeadline(
  call: Promise<LambdaResult>,
  { requestId, timeoutSeconds }: Invocation,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<LambdaResult> {
  const over = new AbortController();
  const { promise: kill, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(killedError());
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const errorMessage = `RequestId: ${requestId} Error: Task timed out after ${timeoutSeconds.toFixed(2)} seconds`;
  const timedOut = { ok: false as const, errorType: "Sandbox.Timedout", errorMessage, trace: [] };
  const deadline = clock.sleep(timeoutSeconds * 1000, over.signal).then(() => timedOut);
  try {
    return await Promise.race([kill, call, deadline]);
  } finally {
    over.abort("over");
    signal?.removeEventListener("abort", onAbort);
  }
}

/**
 * Calls a handler as Lambda's runtime does: it gets the parsed payload, and its result becomes JSON text. A thrown
 * error becomes a result, too.
 */
export async function callHandler(
  fn: LambdaFunction,
  invocation: Invocation,
  now: () => number,
): Promise<LambdaResult> {
  try {
    return serialize(await fn.handler(JSON.parse(invocation.payload), contextOf(invocation, now)));
  } catch (error) {
    return failureOf(error);
  }
}

function contextOf({ functionArn, functionName, requestId, deadlineMs }: Invocation, now: () => number) {
  return {
    functionName,
    functionVersion: "$LATEST",
    invokedFunctionArn: functionArn,
    memoryLimitInMB: "1024",
    awsRequestId: requestId,
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: "local",
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadlineMs - now()),
  };
}

export function failureOf(error: unknown): LambdaResult {
  if (!(error instanceof Error)) {
    return { ok: false, errorType: typeof error, errorMessage: String(error), trace: [] };
  }
  return { ok: false, errorType: error.name, errorMessage: error.message, trace: error.stack?.split("\n") ?? [] };
}

function serialize(answer: unknown): LambdaResult {
  let payload: string;
  try {
    payload = JSON.stringify(answer) ?? "null";
  } catch (error) {
    const errorMessage = `Unable to stringify response body: ${(error as Error).message}`;
    return { ok: false, errorType: "Runtime.MarshalError", errorMessage, trace: [] };
  }
  if (Buffer.byteLength(payload) <= RESPONSE_LIMIT_BYTES) return { ok: true, payload };
  const errorMessage = `Response payload size exceeded maximum allowed payload size (${RESPONSE_LIMIT_BYTES} bytes).`;
  return { ok: false, errorType: "Function.ResponseSizeTooLarge", errorMessage, trace: [] };
}
