import { EventBus, type EventPattern } from "aws-cdk-lib/aws-events";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { type IQueue, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Duration } from "aws-cdk-lib/core";
import type { Stack } from "sst/constructs";
import { allow } from "../access/allow.ts";
import { type EventArns, machineArnPrefix, ownName } from "../access/arns.ts";
import { explain } from "../findings.ts";
import { handOn } from "./rule.ts";

/** Of every queue. */
export const locked = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true };

/** The last place of events that nobody could take, for two weeks; an alarm looks at it. */
export function createUndelivered(stack: Stack, { rules, rulesOfBus }: EventArns): Queue {
  const queue = new Queue(stack, "Undelivered", { ...locked, retentionPeriod: Duration.days(14) });
  explain(queue, "AwsSolutions-SQS3", "It is the dead-letter queue.");
  const fromRules = { ArnLike: { "aws:SourceArn": [rulesOfBus, ...rules] } };
  const fills = allow("sqs", ["SendMessage"], [queue.queueArn], fromRules);
  fills.addPrincipals(new ServicePrincipal("events.amazonaws.com"));
  queue.addToResourcePolicy(fills);
  return queue;
}

/**
 * Where workflows hear of the world: an event on it goes to the runs that wait for one like it. NOVA's own are not among
 * those: each run would ask for all that wait once more when it ends.
 */
export function createBus(stack: Stack, deliver: IFunction, undelivered: IQueue): EventBus {
  const bus = new EventBus(stack, "Bus", { eventBusName: ownName });
  const pattern: EventPattern = { account: [stack.account], source: [{ "anything-but": ["nova"] }] as never };
  handOn(stack, "Events", { pattern, to: deliver, undelivered, bus });
  return bus;
}

/**
 * How state machines' executions end. Runs are named by their ids; items of distributed maps, which may end by the ten
 * thousand, have other names.
 */
export function watchEnds(stack: Stack, status: IFunction, undelivered: IQueue): void {
  const pattern: EventPattern = {
    source: ["aws.states"],
    detailType: ["Step Functions Execution Status Change"],
    detail: {
      status: ["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"],
      stateMachineArn: [{ prefix: machineArnPrefix(stack) }],
      name: [{ prefix: "exec_" }],
    },
  };
  handOn(stack, "RunEnds", { pattern, to: status, undelivered });
}
