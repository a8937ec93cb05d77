import { setTimeout } from "node:timers/promises";
import { type EventBus, StoreUnavailable } from "@nova/engine";
import type { Bus, BusEvent, PublishQueue } from "@nova/service";
import { type EventBridge, eventBridge } from "../clients/loaded.ts";
import { reaching } from "../clients/outage.ts";
import { delayMs } from "../clients/retries.ts";
import type { BucketConnection } from "../s3/objects.ts";
import { wholeEvent, withinEntry } from "./large-detail.ts";

/** What NOVA's own events come from. */
export const ownSource = "nova";

/** NOVA's bus in its three uses: what happened to runs, what people put, what is to be published. */
export interface NovaBus extends EventBus, Bus, PublishQueue {}

export interface BusOptions extends Partial<Pick<BusConnection, "sleep">> {
  busName: string;
  bucket: BucketConnection;
}

/** A bus of EventBridge; details that are too large for it lie in the bucket. */
export function createBus({ busName, bucket, sleep = setTimeout }: BusOptions): NovaBus {
  const connection = { busName, sleep, eventBridge: eventBridge() };
  const put: Bus["put"] = async (event) => putEvent(connection, await withinEntry(bucket, event));
  const own = (type: string, detail: object) => put({ source: ownSource, type, detail: JSON.stringify(detail) });
  return {
    put,
    whole: (event) => wholeEvent(bucket, event),
    publish: async (type, detail) => {
      await own(type, detail);
    },
    enqueue: async ({ workflow, version }) => {
      await own("workflow.publishing", { workflow, version });
    },
  };
}

/** What EventBridge may say of one entry while it took the request, and what passes. */
const passing = new Set(["InternalException", "InternalFailure", "ThrottlingException"]);

const attempts = 6;

interface BusConnection {
  busName: string;
  eventBridge: EventBridge;
  /** Pauses between attempts. */
  sleep(ms: number): Promise<unknown>;
}

/** Puts one event and answers its id. Throws `StoreUnavailable` where EventBridge does not take it in time. */
async function putEvent(
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
