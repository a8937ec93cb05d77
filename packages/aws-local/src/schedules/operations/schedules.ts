import { AwsError, constraint } from "../../aws-http/aws-error.ts";
import { arnOf, type Request } from "../../aws-http/request.ts";
import { type ScheduleOperations, type ScheduleService, type StoredSchedule, scheduleKey } from "../service.ts";
import { readSchedule } from "./read-schedule.ts";

const nameRule = /^[0-9a-zA-Z\-_.]{1,64}$/;

/** Names of the served operations, by method and path. */
export const scheduleRoutes: Record<string, string> = {
  "POST /schedules/{Name}": "CreateSchedule",
  "PUT /schedules/{Name}": "UpdateSchedule",
  "DELETE /schedules/{Name}": "DeleteSchedule",
  "GET /schedules/{Name}": "GetSchedule",
};

export const scheduleOperations: ScheduleOperations = {
  CreateSchedule(service, request) {
    const place = scheduleNameOf(service, request);
    const asked = readSchedule(service.expressions, request);
    if (service.store.get(scheduleKey(place))) {
      throw new AwsError("ConflictException", `Schedule ${place.name} already exists.`, 409);
    }
    const now = service.now();
    return put(service, { ...place, ...asked, createdMs: now, modifiedMs: now, ...startOfSchedule(request, now) });
  },

  UpdateSchedule(service, request) {
    const before = findSchedule(service, request);
    const asked = readSchedule(service.expressions, request);
    const now = service.now();
    const isSame = asked.expression === before.expression && asked.timezone === before.timezone;
    const { name, group, createdMs } = before;
    const times = isSame ? { startMs: before.startMs, doneMs: before.doneMs } : startOfSchedule(request, now);
    return put(service, { name, group, createdMs, modifiedMs: now, ...asked, ...times });
  },

  DeleteSchedule(service, request) {
    const key = scheduleKey(findSchedule(service, request));
    service.store.remove(key);
    service.firing.follow(key);
    return {};
  },

  GetSchedule(service, request) {
    const found = findSchedule(service, request);
    const { target, createdMs, modifiedMs, startMs, description } = found;
    const { name: Name, group: GroupName, state: State } = found;
    return {
      Arn: scheduleArn(found),
      Name,
      GroupName,
      State,
      ...(description && { Description: description }),
      ScheduleExpression: found.expression,
      ScheduleExpressionTimezone: found.timezone,
      FlexibleTimeWindow: { Mode: "OFF" },
      Target: target,
      ...(startMs !== createdMs && { StartDate: startMs / 1000 }),
      CreationDate: createdMs / 1000,
      LastModificationDate: modifiedMs / 1000,
    };
  },
};

/**
 * Returns the times with which a schedule starts. `doneMs` is before `startMs`, because a schedule with a rate such as
 * `rate(5 minutes)` fires at its start (Scheduler User Guide, "Rate-based schedules").
 */
function startOfSchedule(request: Request, now: number): Pick<StoredSchedule, "startMs" | "doneMs"> {
  const startMs = Math.max(now, (request.number("StartDate") ?? 0) * 1000);
  return { startMs, doneMs: startMs - 1 };
}

function put(service: ScheduleService, schedule: StoredSchedule): { ScheduleArn: string } {
  service.store.put(schedule);
  service.firing.follow(scheduleKey(schedule));
  return { ScheduleArn: scheduleArn(schedule) };
}

/** Finds a schedule. Throws `ResourceNotFoundException`. */
function findSchedule(service: ScheduleService, request: Request): StoredSchedule {
  const place = scheduleNameOf(service, request);
  const found = service.store.get(scheduleKey(place));
  if (!found) throw notFound(`Schedule ${place.name} does not exist.`);
  return found;
}

function scheduleNameOf({ groups }: ScheduleService, request: Request) {
  const [name, group = "default"] = [request.text("Name"), request.optionalText("GroupName")];
  if (!nameRule.test(name))
    throw constraint("name", name, `must satisfy regular expression pattern: ${nameRule.source}`);
  if (!groups.includes(group)) throw notFound(`Schedule group ${group} does not exist.`);
  return { name, group };
}

function scheduleArn({ group, name }: StoredSchedule): string {
  return arnOf("scheduler", `schedule/${group}/${name}`);
}

function notFound(message: string): AwsError {
  return new AwsError("ResourceNotFoundException", message, 404);
}
