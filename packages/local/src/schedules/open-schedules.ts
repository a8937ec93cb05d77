import { join } from "node:path";
import type { AccessKey } from "../access/signature.ts";
import { AwsError } from "../aws-http/aws-error.ts";
import { listen } from "../aws-http/listen.ts";
import { notServed, requestOf } from "../aws-http/request.ts";
import { type Clock, systemClock } from "../clock.ts";
import { Deliveries, type Invoke } from "../deliveries/deliveries.ts";
import { Room } from "../disk/room.ts";
import { KeyedFile } from "../disk/whole-file.ts";
import { Firing } from "./firing.ts";
import {
  createSchedule,
  deleteSchedule,
  getSchedule,
  getScheduleGroup,
  listScheduleGroups,
  listSchedules,
  updateSchedule,
} from "./operations/schedules.ts";
import { type StoredSchedule, scheduleKey } from "./schedule-store.ts";
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
  clock?: Clock;
  /** Of the data folder. */
  room?: Room;
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

/** The operations of EventBridge Scheduler that the local cloud serves, by method and path. */
const operations: Record<string, { name: string; run: ScheduleOperation }> = {
  "POST /schedules/{Name}": { name: "CreateSchedule", run: createSchedule },
  "PUT /schedules/{Name}": { name: "UpdateSchedule", run: updateSchedule },
  "DELETE /schedules/{Name}": { name: "DeleteSchedule", run: deleteSchedule },
  "GET /schedules/{Name}": { name: "GetSchedule", run: getSchedule },
  "GET /schedules": { name: "ListSchedules", run: listSchedules },
  "GET /schedule-groups/{Name}": { name: "GetScheduleGroup", run: getScheduleGroup },
  "GET /schedule-groups": { name: "ListScheduleGroups", run: listScheduleGroups },
};

/** Opens EventBridge Scheduler over a data folder. */
export async function openSchedules(options: SchedulesOptions): Promise<Schedules> {
  const { accessKeyId, secretAccessKey, group, region, clock = systemClock } = options;
  const { room = new Room(options.dataDir) } = options;
  const folder = join(options.dataDir, "schedules");
  const deliveries = new Deliveries(folder, options.invoke, room, clock.now);
  const store = new KeyedFile<StoredSchedule>(join(folder, "schedules.json"), scheduleKey);
  const firing = new Firing({ store, deliveries, clock, room, warn: options.warn ?? (() => undefined) });
  const service = { store, firing, groups: ["default", group], region, now: clock.now };
  const { url, close } = await listen({
    name: "EventBridge Scheduler",
    contentType: "application/json",
    accessKeyId,
    secretAccessKey,
    room,
    answer({ method, url = "/" }, body) {
      const { pathname, searchParams: query } = new URL(url, "http://scheduler");
      const [, resource, name = "", ...others] = pathname.split("/").map(decodeURIComponent);
      const operation = others.length === 0 && operations[`${method} /${resource}${name && "/{Name}"}`];
      if (operation) return operation.run(service, { name, query, request: requestOf(body) });
      const served = Object.values(operations).map((one) => one.name);
      throw new AwsError("UnknownOperationException", notServed("Scheduler", `${method} ${pathname}`, served), 404);
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
