import { type EventPattern, type IEventBus, Rule, type RuleTargetInput } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Duration } from "aws-cdk-lib/core";
import type { Stack } from "sst/constructs";

export interface Handing {
  pattern: EventPattern;
  to: IFunction;
  /** For what cannot be handed on within a day. */
  undelivered: IQueue;
  /** Absent: the account's own. */
  bus?: IEventBus;
  /** What the function is told; absent: the event. */
  input?: RuleTargetInput;
}

/** EventBridge's longest: 185 attempts within a day. */
export const patience = { retryAttempts: 185, maxEventAge: Duration.hours(24) };

/** Hands events on to a function. */
export function handOn(stack: Stack, id: string, { pattern, to, undelivered, bus, input }: Handing): void {
  const target = new LambdaFunction(to, { ...patience, deadLetterQueue: undelivered, ...(input && { event: input }) });
  new Rule(stack, id, { eventPattern: pattern, targets: [target], ...(bus && { eventBus: bus }) });
}

/** NOVA's own events of one type. */
export function ofNova(stack: Stack, type: string): EventPattern {
  return { account: [stack.account], source: ["nova"], detailType: [type] };
}
