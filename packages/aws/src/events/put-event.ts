import { StoreUnavailable } from "@nova/engine";
import type { BusEvent } from "@nova/service";
import type { EventBridge } from "../clients/event-bridge.ts";
import { reaching } from "../clients/outage.ts";
import { delayMs } from "../clients/retries.ts";

/** What EventBridge may say of one entry while it took the request, and what passes. */
const passing = new Set(["InternalException", "InternalFailure", "ThrottlingException"]);

const attempts = 6;

export interface BusConnection {
  busName: string;
  eventBridge: EventBridge;
  /** Pauses between attempts. */
  sleep(ms: number): Promise<unknown>;
}

/** Puts one event and answers its id. Throws `StoreUnavailable` where EventBridge does not take it in time. */
export async function putEvent(
  { busName, eventBridge, sleep }: BusConnection,
  { source, type, detail }: BusEvent,
): Promise<string> {
  const { client, sdk } = await eventBridge();
  const entry = { EventBusName: busName, Source: source, DetailType: type, Detail: detail };
  for (let attempt = 1; ; attempt++) {
    const command = new sdk.PutEventsCommand({ Entries: [entry] });
    const { Entries: [result] = [] } = await reaching("EventBridge", () => client.send(command));
    if (result?.EventId !== undefined) return result.EventId;
    const { ErrorCode = "no answer", ErrorMessage = "" } = result ?? {};
    const reason = `EventBridge did not take an event "${type}" (${ErrorCode} ${ErrorMessage})`;
    if (!passing.has(ErrorCode)) throw new Error(`${reason} - correct the event`);
    if (attempt >= attempts) throw new StoreUnavailable(`${reason} - try again`);
    await sleep(delayMs(attempt));
  }
}
