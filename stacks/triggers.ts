import { EventField, type EventPattern, type IEventBus, Rule, RuleTargetInput } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import { CfnScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import { CfnReceiptRule, CfnReceiptRuleSet, EmailIdentity, Identity } from "aws-cdk-lib/aws-ses";
import { type IQueue, Queue } from "aws-cdk-lib/aws-sqs";
import { Duration } from "aws-cdk-lib/core";
import { allow, allowInvoke, createServiceRole, type EventArns, explain, novaName, roleName } from "./access.ts";
import { deliveryRetry, engine, forwardEvents, novaEvents, queueDefaults, schedule } from "./engine.ts";
import { closesRuns, type Grantable, makesTriggers, takesDeliveries, usesCredentials } from "./grants.ts";
import { createLambdas, fillPlans } from "./lambda.ts";
import { type MailSettings, mailSettingsFrom } from "./settings.ts";
import { type Stack, type StackContext, use } from "./sst.ts";
import { mailPrefix, mailRule, mailRuleSet, storage } from "./storage.ts";

/**
 * Creates the stack of the functions for which no caller waits: starts of runs by triggers, publications, notices and
 * erasures.
 */
export function triggers({ stack }: StackContext) {
  const { around, bus, undelivered: queue } = use(engine);
  const { events } = around.granted;
  const roleNames = { "nova-erase": roleName(stack, "erase") };
  const functions = createLambdas(stack, triggerLambdas, { ...around, roleNames });
  // Refers to the queue by its ARN. Otherwise the rules would extend the policy of the queue, and the queue is in an
  // earlier stack.
  const undelivered = Queue.fromQueueArn(stack, "Undelivered", queue.queueArn);

  createNotices(stack, functions["nova-notify"], undelivered, bus);
  forwardEvents(stack, "Erasures", {
    pattern: novaEvents(stack, "client.erasing"),
    to: functions["nova-erase"],
    undelivered,
    bus,
  });
  const unpublished = createPublications(stack, functions["nova-publish"], undelivered, bus);
  allowTriggerRules(functions["nova-fire-trigger"], events);
  createSchedules(stack, [functions["nova-fire-trigger"], functions["nova-poll-mailbox"]], around.granted);
  schedule(stack, "Retention", {
    description: "Erases what is older than its client keeps it",
    every: "rate(1 hour)",
    work: functions["nova-retain"],
  });
  receiveMail(stack, mailSettingsFrom(process.env), {
    bucket: use(storage).bucket,
    receive: functions["nova-receive-mail"],
    undelivered,
  });
  return { functions, unpublished };
}

/** The functions for which no caller waits. Each is in `serviceFunctions` of functions/index.ts under its name. */
export const triggerLambdas = fillPlans({
  "nova-fire-trigger": { isAsynchronous: true, may: [...takesDeliveries, "whole events"] },
  "nova-receive-mail": {
    timeoutSeconds: 300,
    memoryMb: 1024,
    isAsynchronous: true,
    may: [...takesDeliveries, "incoming mail"],
  },
  "nova-poll-mailbox": {
    timeoutSeconds: 300,
    memoryMb: 1024,
    isAsynchronous: true,
    may: [...takesDeliveries, ...usesCredentials, "paused triggers"],
  },
  "nova-publish": {
    memoryMb: 1024,
    may: [
      ...makesTriggers,
      "versions",
      "new versions",
      "workflow lists",
      "clients",
      "client lists",
      "open list",
      "definitions",
      "new definitions",
      "absence",
      "machines",
      "machine versions",
      "old machines",
      "what machines run as",
    ],
  },
  "nova-notify": {
    may: [
      ...usesCredentials,
      "chains",
      "contents of blobs",
      "executions",
      "tasks",
      "versions",
      "definitions",
      "absence",
      "clients",
      "repeated requests",
      "signing",
      "mails",
    ],
  },
  "nova-erase": {
    timeoutSeconds: 900,
    isAsynchronous: true,
    may: [
      ...closesRuns,
      "open list",
      "client lists",
      "whole table",
      "contents of chains",
      "erased records",
      "erased objects",
      "sessions",
      "machines of drafts",
      "changed clients",
      "audit log",
      "undelivered events",
    ],
  },
  "nova-retain": { timeoutSeconds: 900, isAsynchronous: true, as: "nova-erase", may: [] },
});

const againMinutes = 15;

/**
 * Creates the queue and the rules by which NOVA reports failures and approvals. A failed report is repeated for a day,
 * because a receiver may be down for that long.
 */
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
 * Creates the queue of publications. All publications are in one group of a FIFO queue, so Lambda starts a publication
 * after the previous one has ended: Step Functions allows one publication per second. Such a queue needs no reserved
 * concurrency of Lambda, and a new account has a concurrency of only ten. Returns the queue of publications that failed
 * three times. The sweeper queues these again.
 */
export function createPublications(stack: Stack, publish: IFunction, undelivered: IQueue, bus: IEventBus): Queue {
  const unpublished = new Queue(stack, "Unpublished", { ...common, retentionPeriod: Duration.days(14) });
  explain(unpublished, "AwsSolutions-SQS3", "It is the dead-letter queue.");
  const queue = new Queue(stack, "Publications", {
    ...common,
    // This time is longer than the function's timeout, so that no publication runs twice at a time. After a failure,
    // the next publications wait for this time.
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

/** Allows rules of triggers, which publications create and delete, to invoke the function that starts runs. */
export function allowTriggerRules(fire: IFunction, { rules }: EventArns): void {
  const principal = new ServicePrincipal("events.amazonaws.com");
  for (const [at, sourceArn] of rules.entries()) fire.addPermission(`Rules${at}`, { principal, sourceArn });
}

/** Creates the group of trigger schedules, and a role with which Scheduler can call only these functions. */
export function createSchedules(stack: Stack, called: IFunction[], { events, undelivered }: Grantable): void {
  new CfnScheduleGroup(stack, "Schedules", { name: novaName });
  createServiceRole(stack, "SchedulesRole", "SchedulesPolicy", {
    service: "scheduler.amazonaws.com",
    roleName: roleName(stack, "schedules"),
    conditions: { StringEquals: { "aws:SourceAccount": stack.account, "aws:SourceArn": events.group } },
    statements: [allowInvoke(called), allow("sqs", ["SendMessage"], [undelivered.queueArn])],
  });
}

export interface MailParts {
  bucket: Bucket;
  receive: IFunction;
  undelivered: IQueue;
}

/**
 * Receives mail: SES accepts the mail of the domains and writes it into the bucket, and a function handles each object.
 * If `domains` is empty, it creates nothing.
 */
export function receiveMail(stack: Stack, { domains }: MailSettings, parts: MailParts): void {
  if (domains.length === 0) return;
  domains.forEach((domain, at) => void createIdentity(stack, domain, at));
  createRuleSet(stack, domains, parts.bucket);
  const { bucket, receive, undelivered } = parts;
  const pattern = {
    source: ["aws.s3"],
    detailType: ["Object Created"],
    detail: { bucket: { name: [bucket.bucketName] }, object: { key: [{ prefix: mailPrefix }] } },
  };
  // Builds an event in the format of S3's notifications. A real notification would need a custom resource, for which
  // CloudFormation calls a Lambda.
  const key = EventField.fromPath("$.detail.object.key");
  const input = RuleTargetInput.fromObject({ Records: [{ s3: { object: { key } } }] });
  forwardEvents(stack, "Mails", { pattern, to: receive, undelivered, input });
}

/**
 * Creates an identity of SES for a domain. The stack outputs contain the DNS records for the domain, which also prove
 * its ownership.
 */
function createIdentity(stack: Stack, domain: string, at: number): void {
  const identity = new EmailIdentity(stack, `MailDomain${at}`, { identity: Identity.domain(domain) });
  const records = identity.dkimRecords.map(({ name, value }) => `${name} CNAME ${value}`);
  const mx = `${domain} MX 10 inbound-smtp.${stack.region}.amazonaws.com`;
  stack.addOutputs({ [`MailDns${at}`]: [mx, ...records].join(", ") });
}

/**
 * Creates the rules by which SES receives mail. CloudFormation cannot activate the rule set, and only one rule set of a
 * region can be active: see "Mail" in the docs.
 */
function createRuleSet(stack: Stack, domains: string[], bucket: Bucket): void {
  const set = new CfnReceiptRuleSet(stack, "MailRules", { ruleSetName: mailRuleSet });
  const rule = new CfnReceiptRule(stack, "MailRule", {
    ruleSetName: mailRuleSet,
    rule: {
      name: mailRule,
      enabled: true,
      recipients: domains,
      // SES scans each mail for spam and viruses, and the function refuses mails because of the result.
      scanEnabled: true,
      actions: [{ s3Action: { bucketName: bucket.bucketName, objectKeyPrefix: mailPrefix } }],
    },
  });
  rule.addDependency(set);
}
