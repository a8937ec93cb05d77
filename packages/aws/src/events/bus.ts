import { setTimeout } from "node:timers/promises";
import type { EventBus } from "@nova/engine";
import type { Bus, PublishQueue } from "@nova/service";
import { eventBridge } from "../clients/event-bridge.ts";
import type { BucketConnection } from "../s3/connection.ts";
import { wholeEvent, withinEntry } from "./large-detail.ts";
import { type BusConnection, putEvent } from "./put-event.ts";

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
