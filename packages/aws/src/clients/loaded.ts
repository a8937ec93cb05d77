import { patientRetries } from "./outage.ts";
import { useOwnServices } from "./own-services.ts";

const requestHandler = { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true };

/**
 * Returns a function that calls `load` at its first call, and keeps the result. If `load` fails, the next call tries
 * again.
 */
export function keepFirst<T>(load: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () => {
    kept ??= load().catch((error: unknown) => {
      kept = undefined;
      throw error;
    });
    return kept;
  };
}

// The next functions load an SDK at its first use, because most processes never use EventBridge, Scheduler or SES. Each
// caller has its own client, because a process may create further ports later.
export const eventBridge = () =>
  keepFirst(async () => {
    const sdk = await import("./sdk/event-bridge.ts");
    // Also retries the conflict of two concurrent changes of one rule.
    const retryStrategy = patientRetries(["ConcurrentModificationException"]);
    const client = new sdk.EventBridgeClient({ retryStrategy, requestHandler, cacheMiddleware: true });
    useOwnServices(client);
    return { sdk, client };
  });

export type EventBridge = ReturnType<typeof eventBridge>;

export const scheduler = () =>
  keepFirst(async () => {
    const sdk = await import("./sdk/scheduler.ts");
    const client = new sdk.SchedulerClient({ retryStrategy: patientRetries(), requestHandler });
    useOwnServices(client);
    return { sdk, client };
  });

export const mailService = () =>
  keepFirst(async () => {
    const sdk = await import("./sdk/mail-service.ts");
    return { sdk, client: new sdk.SESv2Client({ retryStrategy: patientRetries(), requestHandler }) };
  });
