import { join } from "node:path";
import type { AccessKey } from "../access/signature.ts";
import { AwsError } from "../aws-http/aws-error.ts";
import { listen } from "../aws-http/listen.ts";
import { describeServed, findOperation, parseRequest, withFields } from "../aws-http/request.ts";
import { type Clock, systemClock } from "../clock.ts";
import { Deliveries, type Invoke } from "../deliveries.ts";
import { DiskSpace } from "../disk/disk-space.ts";
import { KeyedFile } from "../disk/keyed-file.ts";
import { Firing } from "./firing.ts";
import { scheduleOperations, scheduleRoutes } from "./operations/schedules.ts";
import { type ScheduleExpressions, type StoredSchedule, scheduleKey } from "./service.ts";

export interface SchedulesOptions extends AccessKey {
  /** The data folder. Its subfolder `schedules` holds schedules and pending deliveries. */
  dataDir: string;
  expressions: ScheduleExpressions;
  /** Names of schedule groups that exist in addition to `default`. */
  groups?: readonly string[];
  invoke: Invoke;
  /** Receives sentences about times that a schedule has missed. */
  warn?: (sentence: string) => void;
  clock?: Clock;
  /** The disk of the data folder. */
  disk?: DiskSpace;
}

export type Schedules = Awaited<ReturnType<typeof openSchedules>>;

/** Opens EventBridge Scheduler over a data folder. */
export async function openSchedules(options: SchedulesOptions) {
  const { accessKeyId, secretAccessKey, invoke, clock = systemClock, warn = () => undefined } = options;
  const { expressions, groups = [], disk = new DiskSpace(options.dataDir) } = options;
  const folder = join(options.dataDir, "schedules");
  const deliveries = new Deliveries(folder, invoke, disk, clock.now);
  const store = new KeyedFile<StoredSchedule>(join(folder, "schedules.json"), scheduleKey);
  const firing = new Firing({ expressions, store, deliveries, clock, disk, warn });
  const service = { expressions, groups: ["default", ...groups], store, firing, now: clock.now };
  const server = await listen({
    name: "EventBridge Scheduler",
    contentType: "application/json",
    accessKeyId,
    secretAccessKey,
    disk,
    read({ method, url = "/" }, body) {
      const { pathname, searchParams: query } = new URL(url, "http://scheduler");
      const [, resource, name = "", ...others] = pathname.split("/").map(decodeURIComponent);
      const operation = others.length === 0 ? scheduleRoutes[`${method} /${resource}${name && "/{Name}"}`] : undefined;
      const group = query.get("groupName");
      if (operation)
        return [operation, withFields(parseRequest(body), { Name: name, ...(group && { GroupName: group }) })];
      const served = Object.keys(scheduleOperations);
      throw new AwsError(
        "UnknownOperationException",
        describeServed("Scheduler", `${method} ${pathname}`, served),
        404,
      );
    },
    perform: (operation, input) => findOperation("Scheduler", operation, scheduleOperations)(service, input),
  });
  return {
    ...server,
    /** Starts to fire schedules. Also delivers the events that earlier processes have left. */
    fire() {
      deliveries.drive();
      firing.start();
    },
    isBusy: () => deliveries.isBusy(),
    /** Stops firing schedules. Resolves when no delivery is under way. */
    rest() {
      firing.stop();
      return deliveries.rest();
    },
    async close() {
      firing.stop();
      await server.close();
      deliveries.close();
    },
  };
}
