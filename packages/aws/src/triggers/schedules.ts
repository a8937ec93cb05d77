import type { CreateScheduleCommandInput, GetScheduleCommandOutput } from "@aws-sdk/client-scheduler";
import { StoreUnavailable } from "@nova/engine";
import type { Schedule, Schedules } from "@nova/service";
import { scheduler as schedulerClient } from "../clients/loaded.ts";
import { orOnError, reportOutage } from "../clients/outage.ts";
import { resourceName, retries, type TriggerOptions, TriggerRefused, unlessAbsent } from "./resources.ts";

const scheduler = "EventBridge Scheduler";

/**
 * Schedules of EventBridge Scheduler. The target receives the names of workflow and trigger, and the scheduled time.
 */
export function createSchedules(options: TriggerOptions): Schedules {
  const { scheduleGroup: group, fireTriggerArn, pollMailboxArn, scheduleRoleArn, deadLetterArn } = options;
  const service = schedulerClient();
  // Scheduler replaces this with the scheduled time.
  const scheduled_at = "<aws.scheduler.scheduled-time>";
  const inputOf = (schedule: Schedule) => ({
    Name: resourceName(schedule),
    GroupName: group,
    Description: `Trigger ${schedule.trigger} of workflow ${schedule.workflow}`,
    ScheduleExpression: schedule.expression,
    ScheduleExpressionTimezone: schedule.timezone ?? "UTC",
    ...(schedule.firstAt !== undefined && { StartDate: new Date(schedule.firstAt) }),
    FlexibleTimeWindow: { Mode: "OFF" as const },
    State: "ENABLED" as const,
    Target: {
      Arn: schedule.polls ? pollMailboxArn : fireTriggerArn,
      RoleArn: scheduleRoleArn,
      Input: JSON.stringify({ workflow: schedule.workflow, trigger: schedule.trigger, scheduled_at }),
      RetryPolicy: retries,
      ...(deadLetterArn !== undefined && { DeadLetterConfig: { Arn: deadLetterArn } }),
    },
  });
  return {
    async put(schedule) {
      const { client, sdk } = await service();
      const input = inputOf(schedule);
      const sent = sendSchedule(schedule, () => client.send(new sdk.CreateScheduleCommand(input)));
      if (await orOnError(["ConflictException"], null, () => sent)) return;
      const { Name, GroupName } = input;
      const there = await sendSchedule(schedule, () => client.send(new sdk.GetScheduleCommand({ Name, GroupName })));
      if (isSame(there, input)) return;
      await retryableUpdate(schedule, () =>
        sendSchedule(schedule, () => client.send(new sdk.UpdateScheduleCommand(input))),
      );
    },
    async remove(name) {
      const { client, sdk } = await service();
      const command = new sdk.DeleteScheduleCommand({ Name: resourceName(name), GroupName: group });
      await unlessAbsent(scheduler, () => client.send(command));
    },
    async firstAt(name) {
      const { client, sdk } = await service();
      const command = new sdk.GetScheduleCommand({ Name: resourceName(name), GroupName: group });
      return (await unlessAbsent(scheduler, () => client.send(command)))?.StartDate?.getTime();
    },
  };
}

/** Avoids needless updates: an update restarts a rate, so a workflow that is published often would never run. */
function isSame(there: GetScheduleCommandOutput, wanted: CreateScheduleCommandInput): boolean {
  const parts = ({ ScheduleExpression: when, ScheduleExpressionTimezone: zone, State, Target }: typeof wanted) => {
    const { Arn, RoleArn, Input, DeadLetterConfig } = Target ?? {};
    return JSON.stringify([when, zone, State, Arn, RoleArn, Input, DeadLetterConfig]);
  };
  return parts(there as typeof wanted) === parts(wanted);
}

async function sendSchedule<T>({ workflow, trigger }: Schedule, send: () => Promise<T>): Promise<T> {
  try {
    return await reportOutage(scheduler, send);
  } catch (cause) {
    const wayOut = cause instanceof Error && correctionByError[cause.name];
    if (!wayOut) throw cause;
    const reason = `EventBridge Scheduler refuses trigger "${trigger}" of workflow "${workflow}"`;
    throw new TriggerRefused(`${reason}: ${cause.message} - ${wayOut}`, { cause });
  }
}

/** Corrections for errors that Scheduler would report again, by error name. */
const correctionByError: Readonly<Record<string, string>> = {
  ServiceQuotaExceededException: "delete workflows with schedules, or ask AWS for more of them",
  ValidationException: "correct its time or its time zone",
};

/** Turns a conflict with a concurrent change into `StoreUnavailable`, so that the caller tries again. */
async function retryableUpdate({ trigger, workflow }: Schedule, change: () => Promise<unknown>): Promise<void> {
  try {
    await change();
  } catch (cause) {
    if (!(cause instanceof Error) || cause.name !== "ConflictException") throw cause;
    const reason = `EventBridge Scheduler was changing trigger "${trigger}" of workflow "${workflow}" already`;
    throw new StoreUnavailable(`${reason} - try again`, { cause });
  }
}
