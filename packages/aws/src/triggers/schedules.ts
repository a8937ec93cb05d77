import type { CreateScheduleCommandInput, GetScheduleCommandOutput } from "@aws-sdk/client-scheduler";
import { StoreUnavailable } from "@nova/engine";
import type { Schedule, Schedules } from "@nova/service";
import { scheduler as schedulerClient } from "../clients/loaded.ts";
import { reaching, unless } from "../clients/outage.ts";
import { resourceName, retries, type TriggerOptions, TriggerRefused, unlessAbsent } from "./resources.ts";

const scheduler = "EventBridge Scheduler";

/** Schedules of EventBridge Scheduler, whose target hears of the trigger and of the time that it was due. */
export function createSchedules(options: TriggerOptions): Schedules {
  const { scheduleGroup: group, fireTriggerArn, pollMailboxArn, scheduleRoleArn, deadLetterArn } = options;
  const service = schedulerClient();
  // Scheduler fills in when the invocation was due.
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
      const sent = sending(schedule, () => client.send(new sdk.CreateScheduleCommand(input)));
      if (await unless(["ConflictException"], null, () => sent)) return;
      const { Name, GroupName } = input;
      const there = await sending(schedule, () => client.send(new sdk.GetScheduleCommand({ Name, GroupName })));
      if (isSame(there, input)) return;
      await changing(schedule, () => sending(schedule, () => client.send(new sdk.UpdateScheduleCommand(input))));
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

/** A change would begin a rate anew, and a workflow that is published often would never run. */
function isSame(there: GetScheduleCommandOutput, wanted: CreateScheduleCommandInput): boolean {
  const parts = ({ ScheduleExpression: when, ScheduleExpressionTimezone: zone, State, Target }: typeof wanted) => {
    const { Arn, RoleArn, Input, DeadLetterConfig } = Target ?? {};
    return JSON.stringify([when, zone, State, Arn, RoleArn, Input, DeadLetterConfig]);
  };
  return parts(there as typeof wanted) === parts(wanted);
}

async function sending<T>({ workflow, trigger }: Schedule, send: () => Promise<T>): Promise<T> {
  try {
    return await reaching(scheduler, send);
  } catch (cause) {
    const wayOut = cause instanceof Error && waysOut[cause.name];
    if (!wayOut) throw cause;
    const reason = `EventBridge Scheduler refuses trigger "${trigger}" of workflow "${workflow}"`;
    throw new TriggerRefused(`${reason}: ${cause.message} - ${wayOut}`, { cause });
  }
}

/** What Scheduler would refuse again, by the name of its error. */
const waysOut: Readonly<Record<string, string>> = {
  ServiceQuotaExceededException: "delete workflows with schedules, or ask AWS for more of them",
  ValidationException: "correct its time or its time zone",
};

/** Who changes one schedule at the same moment is through in a moment. */
async function changing({ trigger, workflow }: Schedule, change: () => Promise<unknown>): Promise<void> {
  try {
    await change();
  } catch (cause) {
    if (!(cause instanceof Error) || cause.name !== "ConflictException") throw cause;
    const reason = `EventBridge Scheduler was changing trigger "${trigger}" of workflow "${workflow}" already`;
    throw new StoreUnavailable(`${reason} - try again`, { cause });
  }
}
