import { type EventPattern, type IEventBus, Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { type IQueue, Queue } from "aws-cdk-lib/aws-sqs";
import { Duration } from "aws-cdk-lib/core";
import { queueDefaults } from "../engine/events.ts";
import { deliveryRetry, novaEvents } from "../engine/rule.ts";
import { explain } from "../findings.ts";
import type { Stack } from "../sst.ts";

const againMinutes = 15;

/** Reports failures and approvals repeatedly for a day, because a receiver may be down that long. */
export function createNotices(stack: Stack, tell: IFunction, undelivered: IQueue, bus: IEventBus): void {
  const queue = new Queue(stack, "FailuresToTell", {
    ...queueDefaults,
    visibilityTimeout: Duration.minutes(againMinutes),
    deadLetterQueue: { queue: undelivered, maxReceiveCount: (24 * 60) / againMinutes },
  });
  const target = new SqsQueue(queue, { ...deliveryRetry, deadLetterQueue: undelivered });
  const hand = (id: string, eventPattern: EventPattern) =>
    new Rule(stack, id, { eventPattern, targets: [target], eventBus: bus });
  hand("Failures", novaEvents(stack, "execution.failed"));
  hand("Approvals", { ...novaEvents(stack, "execution.waiting"), detail: { kind: ["approval"] } });
  tell.addEventSource(new SqsEventSource(queue, { batchSize: 1 }));
}

const common = { ...queueDefaults, fifo: true, contentBasedDeduplication: true };

/**
 * Queues publications in one group of a FIFO queue. Lambda takes the next one after the previous one is done, because
 * Step Functions allows one per second. So no concurrency has to be reserved, of which a new account has ten. Returns
 * the queue of publications that failed three times; the sweeper queues them again.
 */
export function createPublications(stack: Stack, publish: IFunction, undelivered: IQueue, bus: IEventBus): Queue {
  const unpublished = new Queue(stack, "Unpublished", { ...common, retentionPeriod: Duration.days(14) });
  explain(unpublished, "AwsSolutions-SQS3", "It is the dead-letter queue.");
  const queue = new Queue(stack, "Publications", {
    ...common,
    // Longer than the function's timeout. Publications after a failed one wait this long.
    visibilityTimeout: Duration.seconds(150),
    deadLetterQueue: { queue: unpublished, maxReceiveCount: 3 },
  });
  const target = new SqsQueue(queue, {
    ...deliveryRetry,
    messageGroupId: "publications",
    deadLetterQueue: undelivered,
  });
  new Rule(stack, "Publishing", {
    eventPattern: novaEvents(stack, "workflow.publishing"),
    targets: [target],
    eventBus: bus,
  });
  publish.addEventSource(new SqsEventSource(queue, { batchSize: 1 }));
  return unpublished;
}
