import { join } from "node:path";
import type { AccessKey } from "../access/signature.ts";
import { AwsError } from "../aws-http/aws-error.ts";
import { listen } from "../aws-http/listen.ts";
import { requestOf } from "../aws-http/request-of.ts";
import { Deliveries } from "../deliveries/deliveries.ts";
import { type Invoke, keepingUndelivered } from "../deliveries/undelivered.ts";
import { type Clock, systemClock } from "../states/clock.ts";
import { Firing } from "./firing.ts";
import { createSchedule, deleteSchedule, getSchedule, listSchedules, updateSchedule } from "./operations/schedules.ts";
import { ScheduleStore } from "./schedule-store.ts";
import type { ScheduleOperation } from "./service.ts";

export interface SchedulesOptions extends AccessKey {
  /** Schedules, and what is not delivered yet, are in its folder `schedules`. */
  dataDir: string;
  /** Besides `default`. */
  group: string;
  region: string;
  invoke: Invoke;
  /** Hears what was due while nothing ran; absent: nobody does. */
  warn?: (sentence: string) => void;
  accountId?: string;
  clock?: Clock;
}

export interface Schedules {
  url: string;
  /** Fires what is due, from now on. */
  fire(): void;
  isBusy(): boolean;
  /** Fires nothing more; resolves when nothing is being delivered. */
  rest(): Promise<void>;
  close(): Promise<void>;
}

/** The operations of EventBridge Scheduler that the local cloud serves, by method and whether a schedule is named. */
const operations: Record<string, ScheduleOperation> = {
  "POST named": createSchedule,
  "PUT named": updateSchedule,
  "DELETE named": deleteSchedule,
  "GET named": getSchedule,
  "GET all": listSchedules,
};

/** Opens EventBridge Scheduler over a data folder. */
export async function openSchedules(options: SchedulesOptions): Promise<Schedules> {
  const { accessKeyId, secretAccessKey, group, region, accountId = "000000000000", clock = systemClock } = options;
  const folder = join(options.dataDir, "schedules");
  const deliver = keepingUndelivered(options.invoke, join(folder, "undelivered.ndjson"), clock.now);
  const deliveries = new Deliveries(join(folder, "deliveries.ndjson"), deliver);
  const store = new ScheduleStore(join(folder, "schedules.json"));
  const firing = new Firing({ store, deliveries, clock, warn: options.warn ?? (() => undefined) });
  const service = { store, firing, groups: ["default", group], region, accountId, now: clock.now };
  const { url, close } = await listen({
    name: "EventBridge Scheduler",
    contentType: "application/json",
    accessKeyId,
    secretAccessKey,
    answer({ method, url = "/" }, body) {
      const { pathname, searchParams: query } = new URL(url, "http://scheduler");
      const [, resource, name] = pathname.split("/").map(decodeURIComponent);
      const operation = operations[`${method} ${name ? "named" : "all"}`];
      if (resource !== "schedules" || !operation) {
        throw new AwsError(
          "UnknownOperationException",
          `The local Scheduler does not serve ${method} ${pathname}`,
          404,
        );
      }
      return operation(service, { name: name ?? "", query, request: requestOf(body) });
    },
  });
  return {
    url,
    fire() {
      deliveries.drive();
      firing.begin();
    },
    isBusy: () => deliveries.isBusy(),
    async rest() {
      firing.end();
      await deliveries.rest();
    },
    async close() {
      firing.end();
      await close();
      deliveries.close();
    },
  };
}
