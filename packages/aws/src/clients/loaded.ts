import { patientRetries } from "./retries.ts";
import { takeOffers } from "./transport.ts";

/** Small requests that somebody waits for. */
const requestHandler = { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true };

/**
 * Loads an SDK at its first use, and once for whoever holds this: most processes publish no schedule, and none begins
 * with an event. The client belongs to the ports that it was made for, since a process may have others later.
 */
function whenNeeded<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/** The client of EventBridge beside its commands: one for all who are given the same. */
export const eventBridge = () =>
  whenNeeded(async () => {
    const sdk = await import("./sdk/event-bridge.ts");
    // Two changes of one rule at the same moment.
    const retryStrategy = patientRetries(["ConcurrentModificationException"]);
    const client = new sdk.EventBridgeClient({ retryStrategy, requestHandler });
    takeOffers(client);
    return { sdk, client };
  });

export type EventBridge = ReturnType<typeof eventBridge>;

/** The client of EventBridge Scheduler beside its commands. */
export const scheduler = () =>
  whenNeeded(async () => {
    const sdk = await import("./sdk/scheduler.ts");
    return { sdk, client: new sdk.SchedulerClient({ retryStrategy: patientRetries(), requestHandler }) };
  });

/** The client of SES beside its commands. */
export const mailService = () =>
  whenNeeded(async () => {
    const sdk = await import("./sdk/mail-service.ts");
    return { sdk, client: new sdk.SESv2Client({ retryStrategy: patientRetries(), requestHandler }) };
  });
