import { patientRetries } from "./outage.ts";
import { useOwnServices } from "./own-services.ts";

const requestHandler = { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true };

/**
 * Loads an SDK at its first use, because most processes never use EventBridge, Scheduler or SES. A failed load is tried
 * again at the next call. Each caller has its own client, because a process may create further ports later.
 */
function lazyClient<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

export const eventBridge = () =>
  lazyClient(async () => {
    const sdk = await import("./sdk/event-bridge.ts");
    // Also retries the conflict of two concurrent changes of one rule.
    const retryStrategy = patientRetries(["ConcurrentModificationException"]);
    const client = new sdk.EventBridgeClient({ retryStrategy, requestHandler, cacheMiddleware: true });
    useOwnServices(client);
    return { sdk, client };
  });

export type EventBridge = ReturnType<typeof eventBridge>;

export const scheduler = () =>
  lazyClient(async () => {
    const sdk = await import("./sdk/scheduler.ts");
    const client = new sdk.SchedulerClient({ retryStrategy: patientRetries(), requestHandler });
    useOwnServices(client);
    return { sdk, client };
  });

export const mailService = () =>
  lazyClient(async () => {
    const sdk = await import("./sdk/mail-service.ts");
    return { sdk, client: new sdk.SESv2Client({ retryStrategy: patientRetries(), requestHandler }) };
  });
