import { type EventPattern, type IEventBus, Rule, type RuleTargetInput } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Duration } from "aws-cdk-lib/core";
import { allowInvoke, createServiceRole } from "../access/allow.ts";
import type { Stack } from "../sst.ts";

export interface EventRoute {
  pattern: EventPattern;
  to: IFunction;
  /** The queue for events that cannot be delivered within a day. */
  undelivered: IQueue;
  /** Absent: the account's default bus. */
  bus?: IEventBus;
  /** Input of the function; absent: the event. */
  input?: RuleTargetInput;
}

/** EventBridge's limit: 185 attempts within a day. */
export const deliveryRetry = { retryAttempts: 185, maxEventAge: Duration.hours(24) };

/** Forwards events to a function. */
export function forwardEvents(stack: Stack, id: string, { pattern, to, undelivered, bus, input }: EventRoute): void {
  const target = new LambdaFunction(to, {
    ...deliveryRetry,
    deadLetterQueue: undelivered,
    ...(input && { event: input }),
  });
  new Rule(stack, id, { eventPattern: pattern, targets: [target], ...(bus && { eventBus: bus }) });
}

/** Matches NOVA's own events of one type. */
export function novaEvents(stack: Stack, type: string): EventPattern {
  return { account: [stack.account], source: ["nova"], detailType: [type] };
}

export interface Work {
  description: string;
  /** Expression of Scheduler: `rate(1 minute)`. */
  every: string;
  work: IFunction;
}

/** Calls a function at intervals. The next call is the retry. */
export function schedule(stack: Stack, id: string, { description, every, work }: Work): void {
  const { role, policy } = createServiceRole(stack, `${id}ScheduleRole`, `${id}SchedulePolicy`, {
    service: "scheduler.amazonaws.com",
    conditions: { StringEquals: { "aws:SourceAccount": stack.account } },
    statements: [allowInvoke([work])],
  });
  const target = { arn: work.functionArn, roleArn: role.roleArn, retryPolicy: { maximumRetryAttempts: 0 } };
  const made = new CfnSchedule(stack, `${id}Schedule`, {
    description,
    scheduleExpression: every,
    flexibleTimeWindow: { mode: "OFF" },
    target,
  });
  made.node.addDependency(policy);
}
