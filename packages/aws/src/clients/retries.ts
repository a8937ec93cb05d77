import { setTimeout as sleep } from "node:timers/promises";
import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { isFull, isOutage } from "./outage.ts";

type RetryStrategy = Extract<NonNullable<DynamoDBClientConfig["retryStrategy"]>, { acquireInitialRetryToken: unknown }>;
type RetryToken = Awaited<ReturnType<RetryStrategy["acquireInitialRetryToken"]>>;

export const maxAttempts = 12;

/** S3's error for the loser of two concurrent conditional writes. A retry then reports that the key exists. */
export const conflict = "ConditionalRequestConflict";

/** Pause after the n-th failed attempt, in milliseconds: 50 doubling up to 3,000, less up to 30 % of jitter. */
export function delayMs(attempt: number): number {
  return Math.min(3_000, 50 * 2 ** (attempt - 1)) * (0.7 + 0.3 * Math.random());
}

/**
 * Retries for 12 to 18 seconds of throttling and server errors. The SDK's standard strategy shares one retry quota
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
