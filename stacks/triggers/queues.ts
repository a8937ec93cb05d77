import { type EventPattern, type IEventBus, Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { type IQueue, Queue } from "aws-cdk-lib/aws-sqs";
import { Duration } from "aws-cdk-lib/core";
import type { Stack } from "sst/constructs";
import { locked } from "../engine/events.ts";
import { deliveryRetry, ofNova } from "../engine/rule.ts";
import { explain } from "../findings.ts";

const againMinutes = 15;

/**
 * Tells of failures and approvals again and again for a day, since whoever is to hear of one may be down as long as that.
 */
export function tellPeople(stack: Stack, tell: IFunction, undelivered: IQueue, bus: IEventBus): void {
  const queue = new Queue(stack, "FailuresToTell", {
    ...locked,
    visibilityTimeout: Duration.minutes(againMinutes),
    deadLetterQueue: { queue: undelivered, maxReceiveCount: (24 * 60) / againMinutes },
  });
  const target = new SqsQueue(queue, { ...deliveryRetry, deadLetterQueue: undelivered });
  const hand = (id: string, eventPattern: EventPattern) =>
    new Rule(stack, id, { eventPattern, targets: [target], eventBus: bus });
  hand("Failures", ofNova(stack, "execution.failed"));
  hand("Approvals", { ...ofNova(stack, "execution.waiting"), detail: { kind: ["approval"] } });
  tell.addEventSource(new SqsEventSource(queue, { batchSize: 1 }));
}

const common = { ...locked, fifo: true, contentBasedDeduplication: true };

/**
 * Publications wait in one group of a FIFO queue, from which Lambda takes the next one when the one before is done: Step
 * Functions takes one a second. So no concurrency has to be reserved, of which a new account has ten in all. Answers
 * where those go that could not be done three times; the sweeper puts them again.
 */
export function createPublications(stack: Stack, publish: IFunction, undelivered: IQueue, bus: IEventBus): Queue {
  const unpublished = new Queue(stack, "Unpublished", { ...common, retentionPeriod: Duration.days(14) });
  explain(unpublished, "AwsSolutions-SQS3", "It is the dead-letter queue.");
  const queue = new Queue(stack, "Publications", {
    ...common,
    // Longer than the function may take; those behind a publication that fails wait so long.
    visibilityTimeout: Duration.seconds(150),
    deadLetterQueue: { queue: unpublished, maxReceiveCount: 3 },
  });
  const target = new SqsQueue(queue, {
    ...deliveryRetry,
    messageGroupId: "publications",
    deadLetterQueue: undelivered,
  });
  new Rule(stack, "Publishing", {
    eventPattern: ofNova(stack, "workflow.publishing"),
    targets: [target],
    eventBus: bus,
  });
  publish.addEventSource(new SqsEventSource(queue, { batchSize: 1 }));
  return unpublished;
}
