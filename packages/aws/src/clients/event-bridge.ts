import { patientRetries } from "./retries.ts";
import { requestHandler, whenNeeded } from "./when-needed.ts";

/** The client of EventBridge beside its commands: one for all who are given the same. */
export const eventBridge = () =>
  whenNeeded(async () => {
    const sdk = await import("./sdk/event-bridge.ts");
    // Two changes of one rule at the same moment.
    const retryStrategy = patientRetries(["ConcurrentModificationException"]);
    return { sdk, client: new sdk.EventBridgeClient({ retryStrategy, requestHandler }) };
  });

export type EventBridge = ReturnType<typeof eventBridge>;
