import { EventBus, type EventPattern, type IEventBus, Rule, type RuleTargetInput } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { type Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import { type IQueue, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Duration } from "aws-cdk-lib/core";
import * as access from "./access.ts";
import {
  answersTasks,
  closesRuns,
  followsRuns,
  type Grantable,
  makesRoots,
  masksSecrets,
  type Storage,
  sendsEvents,
  usesCredentials,
} from "./grants.ts";
import { createLambdas, fillPlans } from "./lambda.ts";
import { environmentOf, type Stage, sendersFrom, stageOf, verifiesDaily } from "./settings.ts";
import { type Stack, type StackContext, use } from "./sst.ts";
import { storage } from "./storage.ts";

/**
 * Creates the functions that run workflows. The functions of later stacks get the same grants, logs and environment.
 */
export function engine({ stack, app }: StackContext) {
  const stored = use(storage);
  const logs = createLogs(stack, "Logs", "/aws/lambda/nova", stageOf(app));
  const machineLogs = createLogs(stack, "MachineLogs", "/aws/vendedlogs/states/nova", stageOf(app));
  const granted = grantable(stack, stored);
  const { machines, undelivered } = granted;
  const environment = environmentOf(stack, { ...granted, machineLogs }, process.env);
  const around = { granted, logs, environment };
  const functions = createLambdas(stack, engineLambdas, around);

  const called = calledByMachines.map((name) => functions[name]);
  const machinesRole = createMachinesRole(stack, called, machines, stored.bucket);
  const bus = createBus(stack, functions["nova-deliver-event"], undelivered);
  watchEnds(stack, functions["nova-execution-status"], undelivered);
  // The sweep repeats a lost start that is at least half a minute old. With a sweep each minute, NOVA repeats every
  // lost start within two minutes.
  schedule(stack, "Sweep", {
    description: "Closes what died, and repeats what was lost",
    every: "rate(1 minute)",
    work: functions["nova-sweep"],
  });
  schedule(stack, "Proof", {
    description: "Puts closed runs into a Merkle tree with a signed root",
    every: "rate(1 hour)",
    work: functions["nova-prove"],
  });
  if (verifiesDaily(process.env)) {
    // If a check does not fit into one invocation, the next invocation continues the check. After the end of the check,
    // further invocations on the same day end immediately.
    schedule(stack, "Verification", {
      description: "Verifies the chains of all runs once a day, slice by slice",
      every: "rate(15 minutes)",
      work: functions["nova-verify"],
    });
  }
  return { functions, around, logs, machineLogs, machinesRole, bus, undelivered };
}

function createLogs(stack: Stack, id: string, logGroupName: string, stage: Stage): LogGroup {
  return new LogGroup(stack, id, { logGroupName, retention: stage.logRetention, removalPolicy: stage.removal });
}

function grantable(stack: Stack, stored: Storage): Grantable {
  const events = access.eventArns(stack);
  return {
    ...stored,
    events,
    undelivered: createUndelivered(stack, events),
    machines: access.machineArns(stack),
    senders: sendersFrom(process.env).map((identity) =>
      stack.formatArn({ service: "ses", resource: "identity", resourceName: identity }),
    ),
    parameter: (name) =>
      stack.formatArn({ service: "ssm", resource: `parameter${access.parameterName(stack.stage, name)}` }),
  };
}

/** Settings of every queue. */
export const queueDefaults = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true };

/**
 * Creates the queue for events that no function could handle. The queue keeps these events for two weeks, and an alarm
 * watches the queue.
 */
function createUndelivered(stack: Stack, { rules, rulesOfBus }: access.EventArns): Queue {
  const queue = new Queue(stack, "Undelivered", { ...queueDefaults, retentionPeriod: Duration.days(14) });
  access.explain(queue, "AwsSolutions-SQS3", "It is the dead-letter queue.");
  const fromRules = { ArnLike: { "aws:SourceArn": [rulesOfBus, ...rules] } };
  const fills = access.allow("sqs", ["SendMessage"], [queue.queueArn], fromRules);
  fills.addPrincipals(new ServicePrincipal("events.amazonaws.com"));
  queue.addToResourcePolicy(fills);
  return queue;
}

/**
 * Creates the bus for events that runs wait for. The rule leaves out NOVA's own events, because otherwise each end of a
 * run would cause a search in all waiting tasks.
 */
function createBus(stack: Stack, deliver: IFunction, undelivered: IQueue): EventBus {
  const bus = new EventBus(stack, "Bus", { eventBusName: access.novaName });
  const pattern: EventPattern = { account: [stack.account], source: [{ "anything-but": ["nova"] }] as never };
  forwardEvents(stack, "Events", { pattern, to: deliver, undelivered, bus });
  return bus;
}

/**
 * Forwards the events about ends of runs. The items of a distributed map, perhaps ten thousand, are executions, too.
 * Only the names of runs start with `exec_`, so the rule leaves out the items by their names.
 */
function watchEnds(stack: Stack, status: IFunction, undelivered: IQueue): void {
  const pattern: EventPattern = {
    source: ["aws.states"],
    detailType: ["Step Functions Execution Status Change"],
    detail: {
      status: ["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"],
      stateMachineArn: [{ prefix: access.machineArnPrefix(stack) }],
      name: [{ prefix: "exec_" }],
    },
  };
  forwardEvents(stack, "RunEnds", { pattern, to: status, undelivered });
}

/** The functions that state machines call. packages/compiler puts no other functions into state machines. */
const calledByMachines = [
  "nova-run-node",
  "nova-settle-node",
  "nova-close-execution",
  "nova-request-approval",
] as const;

/**
 * The name of the rule by which Step Functions learns that a child execution (`startExecution.sync`) has ended. Step
 * Functions itself creates this rule.
 */
const endsOfExecutions = "StepFunctionsGetEventsForStepFunctionsExecutionRule";

const logDelivery = [
  "CreateLogDelivery",
  "GetLogDelivery",
  "UpdateLogDelivery",
  "DeleteLogDelivery",
  "ListLogDeliveries",
];
const logPolicies = ["PutResourcePolicy", "DescribeResourcePolicies", "DescribeLogGroups"];
const tracing = ["PutTraceSegments", "PutTelemetryRecords", "GetSamplingRules", "GetSamplingTargets"];

/**
 * Creates the role of all state machines. `called` contains aliases of functions, so that no run calls a partly
 * deployed function.
 */
function createMachinesRole(stack: Stack, called: IFunction[], machines: access.MachineArns, bucket: Bucket): Role {
  const rule = stack.formatArn({ service: "events", resource: "rule", resourceName: endsOfExecutions });
  const { role, policy } = access.createServiceRole(stack, "MachinesRole", "MachinesPolicy", {
    service: "states.amazonaws.com",
    roleName: access.roleName(stack, "machines"),
    conditions: {
      StringEquals: { "aws:SourceAccount": stack.account },
      ArnLike: { "aws:SourceArn": [machines.all, machines.executions] },
    },
    statements: [
      access.allowInvoke(called),
      access.allow("states", ["StartExecution"], [machines.all, machines.versions]),
      access.allow("states", ["DescribeExecution", "StopExecution"], [machines.executions]),
      access.allow("events", ["PutTargets", "PutRule", "DescribeRule"], [rule]),
      access.allow("s3", ["GetObject"], [bucket.arnForObjects("blobs/*")]),
      access.allow("logs", [...logDelivery, ...logPolicies], ["*"]),
      access.allow("xray", tracing, ["*"]),
    ],
  });
  access.explain(policy, "AwsSolutions-IAM5", "Machines run each other's workflows and items of their own maps.", [
    { regex: "/^Resource::arn:.*:states:.*:(stateMachine|execution):nova-\\*(:\\*)?$/" },
  ]);
  access.explain(policy, "AwsSolutions-IAM5", "The numbers of a map's items are a blob.", [
    { regex: "/\\/blobs\\/\\*$/" },
  ]);
  access.explain(policy, "AwsSolutions-IAM5", "Neither log deliveries nor X-Ray know resources.", ["Resource::*"]);
  return role;
}

/** The functions that run workflows. Each is in functions/index.ts under its name. */
export const engineLambdas = fillPlans({
  "nova-run-node": {
    timeoutSeconds: 900,
    memoryMb: 1024,
    may: [
      ...new Set([...closesRuns, ...usesCredentials]),
      "signing",
      "new executions",
      "new labels",
      "open list",
      "new tasks",
      "generations",
      "spendings",
      "new spendings",
      "the models' key",
    ],
  },
  "nova-settle-node": { may: closesRuns },
  "nova-close-execution": { may: closesRuns },
  "nova-request-approval": {
    may: [
      ...followsRuns,
      ...masksSecrets,
      ...sendsEvents,
      "new tasks",
      "sealing",
      "whole events",
      "task answers",
      "E2B's key",
    ],
  },
  "nova-deliver-event": {
    isAsynchronous: true,
    may: [...followsRuns, ...answersTasks, "open list", "undelivered events", "large events", "whole events"],
  },
  "nova-execution-status": { isAsynchronous: true, may: [...closesRuns, "undelivered events"] },
  "nova-sweep": {
    timeoutSeconds: 300,
    isAsynchronous: true,
    may: [
      ...closesRuns,
      ...answersTasks,
      "lost publications",
      "open list",
      "client lists",
      "run lists",
      "undelivered events",
    ],
  },
  "nova-verify": {
    timeoutSeconds: 900,
    memoryMb: 1024,
    isAsynchronous: true,
    may: [
      "chains",
      "executions",
      "workflow lists",
      "versions",
      "definitions",
      "contents of blobs",
      "absence",
      "runs",
      "roots",
      "trees",
      "published keys",
      "daily checks",
      "undelivered events",
    ],
  },
  "nova-prove": {
    timeoutSeconds: 300,
    isAsynchronous: true,
    may: ["chain of work", ...makesRoots, "absence", "signing proofs", "undelivered events"],
  },
});

interface EventRoute {
  pattern: EventPattern;
  to: IFunction;
  /** The queue for events that cannot be delivered within a day. */
  undelivered: IQueue;
  /** The bus of the events; absent: the account's default bus. */
  bus?: IEventBus;
  /** The input of the function; absent: the event itself. */
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

interface Work {
  description: string;
  /** The interval as an expression of Scheduler: `rate(1 minute)`. */
  every: string;
  work: IFunction;
}

/** Calls a function at intervals. A failed call is not repeated, because the next call follows after the interval. */
export function schedule(stack: Stack, id: string, { description, every, work }: Work): void {
  const { role, policy } = access.createServiceRole(stack, `${id}ScheduleRole`, `${id}SchedulePolicy`, {
    service: "scheduler.amazonaws.com",
    conditions: { StringEquals: { "aws:SourceAccount": stack.account } },
    statements: [access.allowInvoke([work])],
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
