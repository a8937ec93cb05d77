import { patientRetries } from "./retries.ts";
import { requestHandler, whenNeeded } from "./when-needed.ts";

/** The client of EventBridge Scheduler beside its commands. */
export const scheduler = () =>
  whenNeeded(async () => {
    const sdk = await import("./sdk/scheduler.ts");
    return { sdk, client: new sdk.SchedulerClient({ retryStrategy: patientRetries(), requestHandler }) };
  });
