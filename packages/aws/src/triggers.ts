import { createHash } from "node:crypto";
import type { PutTargetsResultEntry } from "@aws-sdk/client-eventbridge";
import type { CreateScheduleCommandInput, GetScheduleCommandOutput } from "@aws-sdk/client-scheduler";
import { StoreUnavailable } from "@nova/engine";
import type { EventRule, EventRules, Schedule, Schedules, TriggerName } from "@nova/service";
import { textOfJson } from "@nova/workflow";
import { eventBridge, scheduler as schedulerClient } from "./clients/loaded.ts";
import { orOnError, reportOutage } from "./clients/outage.ts";

/** AWS resources that triggers of workflows use. */
export interface TriggerOptions {
  busName: string;
  /** Name of the schedule group that has all schedules of this deployment. */
  scheduleGroup: string;
  scheduleRoleArn: string;
  fireTriggerArn: string;
  pollMailboxArn: string;
  /** Queue for events that could not be delivered for a day. Without a queue such events are lost. */
  deadLetterArn?: string | undefined;
}

/** EventBridge and Scheduler, "Retry policies": at most 185 attempts within a day. */
export const retries = { MaximumRetryAttempts: 185, MaximumEventAgeInSeconds: 24 * 60 * 60 };

/** EventBridge allows names of rules and schedules of at most 64 characters. */
const maxNameLength = 64;

/**
 * Returns the name of a trigger's rule or schedule. The hash keeps names unique: otherwise trigger `a-b` of workflow
 * `c` and trigger `b` of workflow `c-a` would have the same name.
 */
export function resourceName({ workflow, trigger }: TriggerName): string {
  const hash = createHash("sha256").update(`${workflow}\n${trigger}`).digest("hex").slice(0, 12);
  const readable = `nova-${workflow}-${trigger}`.replaceAll(/[^A-Za-z0-9._-]/g, "-");
  return `${readable.slice(0, maxNameLength - 1 - hash.length)}-${hash}`;
}

/** Returns the result of a call; undefined if its resource does not exist. */
export function unlessAbsent<T>(service: string, call: () => Promise<T>): Promise<T | undefined> {
  return orOnError(["ResourceNotFoundException"], undefined, () => reportOutage(service, call));
}

/**
 * Thrown if AWS refuses a trigger. The error has the name of the service's class `Refused`, so that this file need not
 * load that class.
 */
export class TriggerRefused extends Error {
  override name = "Refused";
}

const targetId = "fire";

/**
 * Creates the store of EventBridge rules. Each rule has one target, which receives the names of workflow and trigger,
 * and the event.
 */
export function createEventRules({ busName, fireTriggerArn, deadLetterArn }: TriggerOptions): EventRules {
  const bridge = eventBridge();
  const busOf = ({ bus }: Pick<EventRule, "bus">) => (bus === "nova" ? busName : "default");
  const target = (rule: EventRule) => ({
    Id: targetId,
    Arn: fireTriggerArn,
    InputTransformer: { InputTemplate: inputFor(rule) },
    RetryPolicy: retries,
    ...(deadLetterArn !== undefined && { DeadLetterConfig: { Arn: deadLetterArn } }),
  });
  return {
    async put(rule) {
      const [Name, EventBusName] = [resourceName(rule), busOf(rule)];
      const { client, sdk } = await bridge();
      const Description = `Trigger ${rule.trigger} of workflow ${rule.workflow}`;
      const EventPattern = textOfJson(rule.pattern);
      const command = new sdk.PutRuleCommand({ Name, EventBusName, EventPattern, Description, State: "ENABLED" });
      await reportOutage("EventBridge", () => client.send(command)).catch((cause) => {
        throw ruleRefused(rule, cause);
      });
      const targets = new sdk.PutTargetsCommand({ Rule: Name, EventBusName, Targets: [target(rule)] });
      const { FailedEntries: [failed] = [] } = await reportOutage("EventBridge", () => client.send(targets));
      if (failed) throw targetRefused(rule, failed);
    },
    async remove(rule) {
      const [name, EventBusName] = [resourceName(rule), busOf(rule)];
      const { client, sdk } = await bridge();
      const targets = new sdk.RemoveTargetsCommand({ Rule: name, EventBusName, Ids: [targetId] });
      await unlessAbsent("EventBridge", () => client.send(targets));
      await unlessAbsent("EventBridge", () => client.send(new sdk.DeleteRuleCommand({ Name: name, EventBusName })));
    },
  };
}

/** Builds the input of a rule's target. EventBridge replaces `<aws.events.event.json>` with the unchanged event. */
function inputFor({ workflow, trigger }: EventRule): string {
  return `{"workflow":${JSON.stringify(workflow)},"trigger":${JSON.stringify(trigger)},"event":<aws.events.event.json>}`;
}

/** Names and codes of errors that a retry can fix: concurrent changes of a rule, and codes in `FailedEntries`. */
const transientErrors: readonly (string | undefined)[] = [
  "ConcurrentModificationException",
  "InternalException",
  "ThrottlingException",
];

/**
 * Returns the error to throw if EventBridge does not accept a rule. If a retry cannot help, this is a `TriggerRefused`.
 */
export function ruleRefused({ trigger, workflow }: EventRule, cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  const { name, message } = cause;
  const what = `trigger "${trigger}" of workflow "${workflow}"`;
  if (transientErrors.includes(name))
    return new StoreUnavailable(`EventBridge was changing ${what} - try again`, { cause });
  if (name === "InvalidEventPatternException") {
    const reason = `EventBridge refuses the pattern of ${what}: ${message}`;
    return new TriggerRefused(`${reason} - correct the pattern`, { cause });
  }
  if (name !== "LimitExceededException") return cause;
  // EventBridge allows 300 rules on a bus (Service Quotas, "Rules").
  const reason = `EventBridge has no room for the rule of ${what}: ${message}`;
  return new TriggerRefused(`${reason} - delete workflows with event triggers, or ask AWS for more rules`, { cause });
}

/** Returns the error to throw if EventBridge does not accept the target of a rule. */
export function targetRefused({ trigger, workflow }: EventRule, failed: PutTargetsResultEntry): Error {
  const { ErrorCode, ErrorMessage } = failed;
  const reason = `the rule of trigger "${trigger}" of workflow "${workflow}" has no target (${ErrorCode}: ${ErrorMessage})`;
  if (transientErrors.includes(ErrorCode)) return new StoreUnavailable(`${reason} - try again`);
  return new TriggerRefused(`${reason} - publish it again`);
}

const scheduler = "EventBridge Scheduler";

/**
 * Creates the store of schedules in EventBridge Scheduler. The target of a schedule receives the names of workflow and
 * trigger, and the scheduled time.
 */
export function createSchedules(options: TriggerOptions): Schedules {
  const { scheduleGroup: group, fireTriggerArn, pollMailboxArn, scheduleRoleArn, deadLetterArn } = options;
  const service = schedulerClient();
  // Scheduler replaces this text with the scheduled time.
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

/**
 * Returns whether a schedule needs no update. An update restarts the interval of a `rate(...)`, so a workflow that is
 * published often would never run.
 */
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

/** Advice to the user, by the name of the error. Scheduler would report each of these errors again at a retry. */
const correctionByError: Readonly<Record<string, string>> = {
  ServiceQuotaExceededException: "delete workflows with schedules, or ask AWS for more of them",
  ValidationException: "correct its time or its time zone",
};

/**
 * Runs a change of a schedule. If it conflicts with a concurrent change, throws `StoreUnavailable`, so that the caller
 * tries again.
 */
async function retryableUpdate({ trigger, workflow }: Schedule, change: () => Promise<unknown>): Promise<void> {
  try {
    await change();
  } catch (cause) {
    if (!(cause instanceof Error) || cause.name !== "ConflictException") throw cause;
    const reason = `EventBridge Scheduler was changing trigger "${trigger}" of workflow "${workflow}" already`;
    throw new StoreUnavailable(`${reason} - try again`, { cause });
  }
}
