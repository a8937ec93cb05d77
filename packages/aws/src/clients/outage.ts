import { StoreUnavailable } from "@nova/engine";

interface ServiceError {
  name?: string;
  code?: string;
  $metadata?: { httpStatusCode?: number };
  $retryable?: unknown;
}

const throttles = new Set([
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "SlowDown",
  "Throttling",
  "ThrottlingException",
  "TooManyRequestsException",
]);

const noConnection = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ERR_STREAM_PREMATURE_CLOSE",
  "ETIMEDOUT",
]);

/** True for throttling, server errors and lost connections: the same request may succeed later. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { name, code, $metadata, $retryable } = error as ServiceError;
  const status = $metadata?.httpStatusCode ?? 0;
  if (status >= 500 || status === 429 || $retryable != null) return true;
  return name === "TimeoutError" || throttles.has(name ?? "") || noConnection.has(code ?? "");
}

/** True if the disk of a local store is full (HTTP 507, which AWS never returns). An immediate retry does not help. */
export function isFull(error: unknown): error is Error {
  return error instanceof Error && (error as ServiceError).$metadata?.httpStatusCode === 507;
}

/**
 * Runs a call to a store. Throws `StoreUnavailable` for an outage that outlasted the retries; other errors pass
 * unchanged.
 */
export async function reportOutage<T>(store: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (isFull(cause)) throw new StoreUnavailable(cause.message, { cause });
    if (!isOutage(cause)) throw cause;
    const reason = cause instanceof Error ? cause.name : "no answer";
    throw new StoreUnavailable(`${store} did not answer in time (${reason}) - try again`, { cause });
  }
}

/** Like `reportOutage`, for a conditional write: returns false if its condition failed. */
export function reportOutageIf(store: string, write: () => Promise<unknown>): Promise<boolean> {
  return orOnError(["ConditionalCheckFailedException"], false, async () => {
    await reportOutage(store, write);
    return true;
  });
}

/** Returns the result of a call, or `instead` if the call fails with an error of one of these names. */
export async function orOnError<T, I>(names: readonly string[], instead: I, call: () => Promise<T>): Promise<T | I> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof Error && names.includes(error.name)) return instead;
    throw error;
  }
}
