import { setTimeout as sleep } from "node:timers/promises";
import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { StoreUnavailable } from "@nova/engine";

interface ServiceError {
  name?: string;
  code?: string;
  $metadata?: { httpStatusCode?: number };
  $retryable?: unknown;
}

const throttles = new Set(
  (
    "ProvisionedThroughputExceededException RequestLimitExceeded SlowDown Throttling ThrottlingException " +
    "TooManyRequestsException"
  ).split(" "),
);

const noConnection = new Set(
  "EAI_AGAIN ECONNREFUSED ECONNRESET EHOSTUNREACH ENETUNREACH ENOTFOUND EPIPE ERR_STREAM_PREMATURE_CLOSE ETIMEDOUT".split(
    " ",
  ),
);

/** Returns true for throttling, server errors and lost connections, because the same request may succeed later. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { name, code, $metadata, $retryable } = error as ServiceError;
  const status = $metadata?.httpStatusCode ?? 0;
  if (status >= 500 || status === 429 || $retryable != null) return true;
  return name === "TimeoutError" || throttles.has(name ?? "") || noConnection.has(code ?? "");
}

/**
 * Returns whether the disk of a local store is full (HTTP 507, which AWS never returns). An immediate retry does not
 * help.
 */
export function isFull(error: unknown): error is Error {
  return error instanceof Error && (error as ServiceError).$metadata?.httpStatusCode === 507;
}

/**
 * Runs a call to a store. Throws `StoreUnavailable` for an outage that lasts longer than the retries, and passes on all
 * other errors.
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

/** Works like `reportOutage`, for a conditional write. Returns false if the condition of the write failed. */
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

type RetryStrategy = Extract<NonNullable<DynamoDBClientConfig["retryStrategy"]>, { acquireInitialRetryToken: unknown }>;
type RetryToken = Awaited<ReturnType<RetryStrategy["acquireInitialRetryToken"]>>;

export const maxAttempts = 12;

/**
 * The error of S3 for one of two concurrent conditional writes to the same key. A retry of that write fails because the
 * key exists.
 */
export const conflict = "ConditionalRequestConflict";

/**
 * Returns the pause after the n-th failed attempt in milliseconds. It starts at 50 and doubles up to 3,000. A random
 * part of up to 30 % is subtracted.
 */
export function delayMs(attempt: number): number {
  return Math.min(3_000, 50 * 2 ** (attempt - 1)) * (0.7 + 0.3 * Math.random());
}

/**
 * Retries throttled requests and server errors for 12 to 18 seconds. The SDK's standard strategy shares one retry quota
 * among all calls of a client, so a hundred throttled runs would use it up and fail immediately. `also` names further
 * errors to retry.
 */
export function patientRetries(also: readonly string[] = []): RetryStrategy {
  return {
    acquireInitialRetryToken: async () => token(0, 0),
    recordSuccess: () => undefined,
    async refreshRetryTokenForRetry(previous, { error, errorType }) {
      const attempt = previous.getRetryCount() + 1;
      const isTransient = errorType !== "CLIENT_ERROR" && !isFull(error);
      const passes = isTransient || (error !== undefined && also.includes(error.name));
      if (!passes || attempt >= maxAttempts) throw error ?? new TypeError("a retry was asked for without an error");
      return token(attempt, delayMs(attempt));
    },
  };
}

function token(retries: number, delay: number): RetryToken {
  return { getRetryCount: () => retries, getRetryDelay: () => delay };
}

/**
 * Repeats a request whose body is a stream, which the SDK cannot repeat. `send` must create a new body each time.
 * `also` names further errors to retry.
 */
export async function retryStream<T>(send: () => Promise<T>, also: readonly string[] = []): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      const passes = (isOutage(error) && !isFull(error)) || (error instanceof Error && also.includes(error.name));
      if (!passes || attempt >= maxAttempts) throw error;
      await sleep(delayMs(attempt));
    }
  }
}
