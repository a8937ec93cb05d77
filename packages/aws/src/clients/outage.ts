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

/** Throttling, a server error, or no connection: the same request may succeed later. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { name, code, $metadata, $retryable } = error as ServiceError;
  const status = $metadata?.httpStatusCode ?? 0;
  if (status >= 500 || status === 429 || $retryable != null) return true;
  return name === "TimeoutError" || throttles.has(name ?? "") || noConnection.has(code ?? "");
}

/**
 * The store's own disk is full, as it says itself (HTTP 507). No service of AWS answers so; stores on one's own machines
 * do. Asking again at once is of no use.
 */
export function isFull(error: unknown): error is Error {
  return error instanceof Error && (error as ServiceError).$metadata?.httpStatusCode === 507;
}

/** Runs a call to a store; an outage that outlasted the retries is `StoreUnavailable`, everything else stays as it is. */
export async function reaching<T>(store: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (isFull(cause)) throw new StoreUnavailable(cause.message, { cause });
    if (!isOutage(cause)) throw cause;
    const reason = cause instanceof Error ? cause.name : "no answer";
    throw new StoreUnavailable(`${store} did not answer in time (${reason}) - try again`, { cause });
  }
}

/** As `reaching`, for a conditional write: false when its condition failed. */
export function reachingIf(store: string, write: () => Promise<unknown>): Promise<boolean> {
  return unless(["ConditionalCheckFailedException"], false, async () => {
    await reaching(store, write);
    return true;
  });
}

/** What a call answers; `instead` where it fails with an error of one of these names. */
export async function unless<T, I>(names: readonly string[], instead: I, call: () => Promise<T>): Promise<T | I> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof Error && names.includes(error.name)) return instead;
    throw error;
  }
}
