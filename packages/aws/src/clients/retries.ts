import { setTimeout as sleep } from "node:timers/promises";
import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { isFull, isOutage } from "./outage.ts";

type RetryStrategy = Extract<NonNullable<DynamoDBClientConfig["retryStrategy"]>, { acquireInitialRetryToken: unknown }>;
type RetryToken = Awaited<ReturnType<RetryStrategy["acquireInitialRetryToken"]>>;

export const maxAttempts = 12;

/** S3 answers it to the loser of two conditional writes at the same moment; asked again it says who won. */
export const conflict = "ConditionalRequestConflict";

/** Pause after the n-th failed attempt, in milliseconds: 50 doubling up to 3,000, less up to 30 % of jitter. */
export function delayMs(attempt: number): number {
  return Math.min(3_000, 50 * 2 ** (attempt - 1)) * (0.7 + 0.3 * Math.random());
}

/**
 * Retries that outlast ten seconds of throttling and server errors (12 to 18 s in all). The SDK's standard strategy is
 * not used because its retry quota is shared by all calls of a client: a hundred runs that are throttled at the same
 * moment would use it up and give up at once. Errors with a name in `also` pass by themselves too.
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
 * Repeats what the SDK cannot: a request whose body is a stream. `send` makes a new body each time. Errors with a name
 * in `also` pass by themselves too.
 */
export async function patiently<T>(send: () => Promise<T>, also: readonly string[] = []): Promise<T> {
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
