import { EventBus, type EventPattern, Rule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { type IQueue, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Duration } from "aws-cdk-lib/core";
import type { Stack } from "sst/constructs";
import { machineArnPrefix } from "../access/machines.ts";
import { explain } from "../findings.ts";

/** The last place of events that nobody could take, for two weeks; an alarm looks at it. */
export function createUndelivered(stack: Stack): Queue {
  const queue = new Queue(stack, "Undelivered", {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
  });
  explain(queue, "AwsSolutions-SQS3", "It is the dead-letter queue.");
  return queue;
}

export const busName = "nova";

/**
 * Where workflows hear of the world: an event on it goes to the runs that wait for one like it. NOVA's own are not among
 * those: each run would ask for all that wait once more when it ends.
 */
export function createBus(stack: Stack, deliver: IFunction, undelivered: IQueue): EventBus {
  const bus = new EventBus(stack, "Bus", { eventBusName: busName });
  rule(stack, "Events", worldly(stack), deliver, undelivered, bus);
  return bus;
}

function worldly(stack: Stack): EventPattern {
  return { account: [stack.account], source: [{ "anything-but": ["nova"] }] as never };
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
  rule(stack, "RunEnds", pattern, status, undelivered);
}

function rule(
  stack: Stack,
  id: string,
  eventPattern: EventPattern,
  target: IFunction,
  deadLetterQueue: IQueue,
  eventBus?: EventBus,
): void {
  const handler = new LambdaFunction(target, { deadLetterQueue, retryAttempts: 185, maxEventAge: Duration.hours(24) });
  new Rule(stack, id, { eventPattern, targets: [handler], ...(eventBus && { eventBus }) });
}
