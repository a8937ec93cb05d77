import { type EventPattern, type IEventBus, Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { type IQueue, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Duration } from "aws-cdk-lib/core";
import type { Stack } from "sst/constructs";
import { ofNova, patience } from "../engine/rule.ts";

const againMinutes = 15;

/**
 * Tells of failures and approvals again and again for a day, since whoever is to hear of one may be down as long as that.
 */
export function tellPeople(stack: Stack, tell: IFunction, undelivered: IQueue, bus: IEventBus): void {
  const queue = new Queue(stack, "FailuresToTell", {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    visibilityTimeout: Duration.minutes(againMinutes),
    deadLetterQueue: { queue: undelivered, maxReceiveCount: (24 * 60) / againMinutes },
  });
  const target = new SqsQueue(queue, { ...patience, deadLetterQueue: undelivered });
  const hand = (id: string, eventPattern: EventPattern) =>
    new Rule(stack, id, { eventPattern, targets: [target], eventBus: bus });
  hand("Failures", ofNova(stack, "execution.failed"));
  hand("Approvals", { ...ofNova(stack, "execution.waiting"), detail: { kind: ["approval"] } });
  tell.addEventSource(new SqsEventSource(queue, { batchSize: 1 }));
}
