import type { Schedule, Schedules } from "@nova/service";
import { reaching } from "../clients/outage.ts";
import { scheduler } from "../clients/when-needed.ts";
import { TriggerRefused } from "../triggers/refused.ts";
import { resourceName } from "../triggers/resource-name.ts";

export interface SchedulesOptions {
  /** Schedules of one stage are one group. */
  group: string;
  /** The function that starts runs. */
  targetArn: string;
  /** The function that looks at mailboxes. */
  pollArn: string;
  /** What Scheduler calls it as. */
  roleArn: string;
  /** Where invocations go that failed for a day; absent: nowhere. */
  deadLetterArn?: string | undefined;
}

/** Scheduler's own longest: 185 attempts within a day. */
const retries = { MaximumRetryAttempts: 185, MaximumEventAgeInSeconds: 24 * 60 * 60 };

/** Schedules of EventBridge Scheduler, whose target hears of the trigger and of the time that it was due. */
export function createSchedules({ group, targetArn, pollArn, roleArn, deadLetterArn }: SchedulesOptions): Schedules {
  const inputOf = (schedule: Schedule) => ({
    Name: resourceName(schedule),
    GroupName: group,
    Description: `Trigger ${schedule.trigger} of workflow ${schedule.workflow}`,
    ScheduleExpression: schedule.expression,
    ScheduleExpressionTimezone: schedule.timezone ?? "UTC",
    FlexibleTimeWindow: { Mode: "OFF" as const },
    State: "ENABLED" as const,
    Target: {
      Arn: schedule.polls ? pollArn : targetArn,
      RoleArn: roleArn,
      Input: payloadFor(schedule),
      RetryPolicy: retries,
      ...(deadLetterArn !== undefined && { DeadLetterConfig: { Arn: deadLetterArn } }),
    },
  });
  return {
    async put(schedule) {
      const { client, sdk } = await scheduler();
      const input = inputOf(schedule);
      try {
        await sending(schedule, () => client.send(new sdk.CreateScheduleCommand(input)));
      } catch (error) {
        if (!(error instanceof Error) || error.name !== "ConflictException") throw error;
        await sending(schedule, () => client.send(new sdk.UpdateScheduleCommand(input)));
      }
    },
    async remove(name) {
      const { client, sdk } = await scheduler();
      const command = new sdk.DeleteScheduleCommand({ Name: resourceName(name), GroupName: group });
      try {
        await reaching("EventBridge Scheduler", () => client.send(command));
      } catch (error) {
        if (!(error instanceof Error) || error.name !== "ResourceNotFoundException") throw error;
      }
    },
  };
}

/** Scheduler fills in when the invocation was due. */
function payloadFor({ workflow, trigger }: Schedule): string {
  return JSON.stringify({ workflow, trigger, scheduled_at: "<aws.scheduler.scheduled-time>" });
}

async function sending({ workflow, trigger }: Schedule, send: () => Promise<unknown>): Promise<void> {
  try {
    await reaching("EventBridge Scheduler", send);
  } catch (cause) {
    if (!(cause instanceof Error) || cause.name !== "ValidationException") throw cause;
    const reason = `EventBridge Scheduler refuses trigger "${trigger}" of workflow "${workflow}"`;
    throw new TriggerRefused(`${reason}: ${cause.message} - correct its time or its time zone`, { cause });
  }
}
