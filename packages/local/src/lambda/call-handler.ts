import type { LambdaResult } from "../lambda-types.ts";
import { type LambdaContext, type LambdaFunction, LambdaServiceError } from "./lambda-function.ts";

/** Lambda: request and response of a synchronous invocation. The response may be 100 bytes longer. */
export const PAYLOAD_LIMIT_BYTES = 6 * 1024 * 1024;
const RESPONSE_LIMIT_BYTES = PAYLOAD_LIMIT_BYTES + 100;

export interface Invocation {
  functionArn: string;
  functionName: string;
  payload: string;
  requestId: string;
  /** Milliseconds since the epoch. */
  deadlineMs: number;
}

export function assertPayloadFits(payload: string): void {
  if (Buffer.byteLength(payload) <= PAYLOAD_LIMIT_BYTES) return;
  throw new LambdaServiceError(
    "Lambda.RequestTooLargeException",
    `Request must be smaller than ${PAYLOAD_LIMIT_BYTES} bytes for the InvokeFunction operation`,
  );
}

/** Calls a handler as Lambda's runtime does: JSON in, JSON out, and whatever it throws becomes a result. */
export async function callHandler(
  fn: LambdaFunction,
  invocation: Invocation,
  now: () => number,
): Promise<LambdaResult> {
  let answer: unknown;
  try {
    answer = await fn.handler(JSON.parse(invocation.payload), contextOf(invocation, now));
  } catch (error) {
    return failureOf(error);
  }
  return serialize(answer);
}

export function timedOut({ requestId }: Invocation, timeoutSeconds: number): LambdaResult {
  const errorMessage = `RequestId: ${requestId} Error: Task timed out after ${timeoutSeconds.toFixed(2)} seconds`;
  return { ok: false, errorType: "Sandbox.Timedout", errorMessage, trace: [] };
}

function contextOf({ functionArn, functionName, requestId, deadlineMs }: Invocation, now: () => number): LambdaContext {
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
