import { EventBus, type EventPattern } from "aws-cdk-lib/aws-events";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { type IQueue, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Duration } from "aws-cdk-lib/core";
import { allow } from "../access/allow.ts";
import { type EventArns, machineArnPrefix, novaName } from "../access/arns.ts";
import { explain } from "../findings.ts";
import type { Stack } from "../sst.ts";
import { forwardEvents } from "./rule.ts";

/** Settings of every queue. */
export const queueDefaults = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true };

/** Creates the queue for events that no function could handle. It keeps them for two weeks, and an alarm watches it. */
export function createUndelivered(stack: Stack, { rules, rulesOfBus }: EventArns): Queue {
  const queue = new Queue(stack, "Undelivered", { ...queueDefaults, retentionPeriod: Duration.days(14) });
  explain(queue, "AwsSolutions-SQS3", "It is the dead-letter queue.");
  const fromRules = { ArnLike: { "aws:SourceArn": [rulesOfBus, ...rules] } };
  const fills = allow("sqs", ["SendMessage"], [queue.queueArn], fromRules);
  fills.addPrincipals(new ServicePrincipal("events.amazonaws.com"));
  queue.addToResourcePolicy(fills);
  return queue;
}

/**
 * Creates the bus for events that runs wait for. NOVA's own events are left out: otherwise each end of a run would
 * search all waiting tasks.
 */
export function createBus(stack: Stack, deliver: IFunction, undelivered: IQueue): EventBus {
  const bus = new EventBus(stack, "Bus", { eventBusName: novaName });
  const pattern: EventPattern = { account: [stack.account], source: [{ "anything-but": ["nova"] }] as never };
  forwardEvents(stack, "Events", { pattern, to: deliver, undelivered, bus });
  return bus;
}

/**
 * Forwards the ends of executions. The name of a run is its id; items of distributed maps have other names, and there
 * may be ten thousand of them.
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
  forwardEvents(stack, "RunEnds", { pattern, to: status, undelivered });
}
