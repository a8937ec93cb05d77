import type { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Storage } from "../storage.ts";
import { allow } from "./allow.ts";
import type { EventArns, MachineArns, SecretName } from "./arns.ts";
import * as partitions from "./partitions.ts";

/** All that a function may be allowed to reach. */
export interface Grantable extends Storage {
  machines: MachineArns;
  events: EventArns;
  undelivered: Queue;
  /** ARNs of what SES sends as. */
  senders: readonly string[];
  /** ARN of a key's parameter in Systems Manager. */
  parameter(name: SecretName): string;
}

type Table = Grantable["table"];

/** `ForAllValues` holds for a call without any key, but none of these actions can be called without one. */
function items(table: Table, actions: readonly string[], keys: readonly string[]): PolicyStatement {
  return allow("dynamodb", actions, [table.tableArn], { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": keys } });
}

function indexes(table: Table, name: string): PolicyStatement {
  return allow("dynamodb", ["Query"], [`${table.tableArn}/index/${name}`]);
}

function objects(bucket: Grantable["bucket"], actions: readonly string[], keys: string): PolicyStatement {
  return allow("s3", actions, [bucket.arnForObjects(keys)]);
}

/** What is sealed for a name, as no task token is. */
const ofCredentials = sealedFor("name");

/** What is sealed for a task, as no credential is: KMS opens nothing else for whoever only answers tasks. */
const ofTasks = sealedFor("task");

/** The encryption context names such a key; a text opens with the context that it was sealed with, and with no other. */
function sealedFor(key: string) {
  return { "ForAnyValue:StringEquals": { "kms:EncryptionContextKeys": [key] } };
}

/** A role is handed to one service and to nobody else. */
export function passedTo(service: string) {
  return { StringEquals: { "iam:PassedToService": service } };
}

const madeOfRules = ["PutRule", "RemoveTargets", "DeleteRule"];
const madeOfSchedules = ["CreateSchedule", "GetSchedule", "UpdateSchedule", "DeleteSchedule"];

/** What a function may be allowed to do, each by one statement on one thing of ours. */
export const grants = {
  // What may be done in the table: by partition, by index, and as a whole.
  "chain of work": ({ table }) => items(table, ["Query", "BatchGetItem", "PutItem"], partitions.chains),
  executions: ({ table }) => items(table, ["GetItem"], partitions.executions),
  labels: ({ table }) => items(table, ["Query"], partitions.labels),
  "changed executions": ({ table }) => items(table, ["UpdateItem"], partitions.executions),
  "new executions": ({ table }) => items(table, ["PutItem"], partitions.executions),
  "new labels": ({ table }) => items(table, ["PutItem"], partitions.labels),
  tasks: ({ table }) => items(table, ["GetItem", "Query", "UpdateItem"], partitions.tasks),
  "new tasks": ({ table }) => items(table, ["PutItem"], partitions.tasks),

  /** A task that is over is found no more. */
  wakes: ({ table }) => items(table, ["Query", "PutItem", "DeleteItem"], partitions.wakes),
  /** Also before a run starts: from then on events are kept that it may look for. */
  "shapes of events": ({ table }) => items(table, ["Query", "PutItem"], partitions.shapes),

  /** With what is active of a workflow, and what waits to be published. */
  versions: ({ table }) => items(table, ["GetItem", "Query"], partitions.workflows),
  "new versions": ({ table }) => items(table, ["PutItem", "UpdateItem"], partitions.workflows),
  /** A publication that was lost on its way says when it was handed over again. */
  "lost publications": ({ table }) => items(table, ["UpdateItem"], partitions.workflows),
  generations: ({ table }) => items(table, ["PutItem", "UpdateItem"], partitions.generations),
  /** Somebody who has read code lets it run, or not. */
  "reviewed code": ({ table }) => items(table, ["UpdateItem"], partitions.generations),
  /** What pinned code has saved is what writing it has cost. */
  "written code": ({ table }) => items(table, ["Query"], partitions.generations),

  credentials: ({ table }) => items(table, ["Query"], partitions.credentials),
  /** A token that was got anew is stored before it is used. */
  "refreshed credentials": ({ table }) => items(table, ["GetItem", "PutItem"], partitions.credentials),
  "gone credentials": ({ table }) => items(table, ["DeleteItem"], partitions.credentials),
  clients: ({ table }) => items(table, ["GetItem"], partitions.clients),
  "new clients": ({ table }) => items(table, ["PutItem"], partitions.clients),
  "changed clients": ({ table }) => items(table, ["UpdateItem"], partitions.clients),
  keys: ({ table }) => items(table, ["GetItem"], partitions.keys),
  "new keys": ({ table }) => items(table, ["PutItem"], partitions.keys),
  "gone keys": ({ table }) => items(table, ["DeleteItem"], partitions.keys),
  "request rates": ({ table }) => items(table, ["UpdateItem"], partitions.rates),
  "repeated requests": ({ table }) => items(table, ["GetItem", "PutItem", "UpdateItem"], partitions.attempts),
  "audit log": ({ table }) => items(table, ["PutItem"], partitions.audit),
  "list of the audit log": ({ table }) => items(table, ["Query"], partitions.audit),

  figures: ({ table }) => items(table, ["PutItem"], partitions.figures),
  "figures of workflows": ({ table }) => items(table, ["Query"], partitions.figures),
  queues: ({ table }) => items(table, ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"], partitions.queues),
  spendings: ({ table }) => items(table, ["Query"], partitions.spendings),
  "new spendings": ({ table }) => items(table, ["PutItem"], partitions.spendings),
  uploads: ({ table }) => items(table, ["GetItem"], partitions.uploads),
  "new uploads": ({ table }) => items(table, ["PutItem"], partitions.uploads),
  sessions: ({ table }) => items(table, ["GetItem"], partitions.sessions),
  "changed sessions": ({ table }) => items(table, ["PutItem"], partitions.sessions),
  triggers: ({ table }) => items(table, ["GetItem"], partitions.triggers),
  "new triggers": ({ table }) => items(table, ["PutItem", "DeleteItem"], partitions.triggers),
  /** A mailbox that cannot be read is left alone for a while. */
  "paused triggers": ({ table }) => items(table, ["UpdateItem"], partitions.triggers),
  deliveries: ({ table }) => items(table, ["GetItem", "PutItem", "UpdateItem"], partitions.deliveries),

  "open list": ({ table }) => indexes(table, "open"),
  "workflow lists": ({ table }) => indexes(table, "by-workflow"),
  /** Of keys, clients and pools, which lie in one index with what belongs to clients. */
  "client lists": ({ table }) => indexes(table, "by-client"),
  /**
   * Nothing less finds all that is a client's, which is erased by one function and exported by the API, or which
   * formats are stored, which the API says to administrators.
   */
  "whole table": ({ table }) => allow("dynamodb", ["Scan"], [table.tableArn]),

  "contents of chains": ({ table }) => items(table, ["UpdateItem"], partitions.chains),
  "erased records": ({ table }) => items(table, ["DeleteItem"], partitions.erasable),

  // What may be done in the bucket, by prefix. Who gets an address of an object to sign needs what the address is for.
  blobs: ({ bucket }) => objects(bucket, ["GetObject", "PutObject"], "blobs/*"),
  definitions: ({ bucket }) => objects(bucket, ["GetObject"], "workflows/*"),
  "new definitions": ({ bucket }) => objects(bucket, ["PutObject"], "workflows/*"),
  /** What no entry of a bus can hold. */
  "large events": ({ bucket }) => objects(bucket, ["PutObject"], "events/*"),
  "whole events": ({ bucket }) => objects(bucket, ["GetObject"], "events/*"),
  "uploaded bytes": ({ bucket }) => objects(bucket, ["GetObject"], "uploads/*"),
  "new uploaded bytes": ({ bucket }) => objects(bucket, ["PutObject"], "uploads/*"),
  "incoming mail": ({ bucket }) => objects(bucket, ["GetObject"], "mail/*"),
  "erased objects": ({ bucket }) =>
    allow("s3", ["DeleteObject"], [bucket.arnForObjects("blobs/*"), bucket.arnForObjects("uploads/*")]),
  /**
   * Without it S3 answers 403 for what is not there, and an erased blob could not be told from a forbidden one. Who asks
   * for an object names no `s3:prefix`, so a condition on that would take this away. Erasing and exporting list, too.
   */
  absence: ({ bucket }) => allow("s3", ["ListBucket"], [bucket.bucketArn]),

  // What keys may be used for: NOVA's own, of KMS, and those of others, which are parameters.
  signing: ({ keys }) => allow("kms", ["GenerateMac"], [keys.signing.keyArn]),
  "checking signatures": ({ keys }) => allow("kms", ["VerifyMac"], [keys.signing.keyArn]),
  sealing: ({ keys }) => allow("kms", ["Encrypt"], [keys.vault.keyArn], ofTasks),
  /** By the Encryption SDK, which seals longer texts than KMS takes: one data key for each. */
  "sealing credentials": ({ keys }) => allow("kms", ["GenerateDataKey"], [keys.vault.keyArn], ofCredentials),
  "opening credentials": ({ keys }) => allow("kms", ["Decrypt"], [keys.vault.keyArn], ofCredentials),
  unsealing: ({ keys }) => allow("kms", ["Decrypt"], [keys.vault.keyArn], ofTasks),

  "E2B's key": ({ parameter }) => allow("ssm", ["GetParameters"], [parameter("E2B_API_KEY")]),
  "the models' key": ({ parameter }) => allow("ssm", ["GetParameters"], [parameter("OPENAI_API_KEY")]),

  // What may be done with state machines and their executions.
  "run starts": ({ machines }) => allow("states", ["StartExecution"], [machines.all, machines.versions]),
  runs: ({ machines }) => allow("states", ["DescribeExecution"], [machines.executions]),
  "ends of runs": ({ machines }) => allow("states", ["StopExecution"], [machines.executions]),
  "run lists": ({ machines }) => allow("states", ["ListExecutions"], [machines.all]),
  "task answers": ({ machines }) => allow("states", ["SendTaskSuccess"], [machines.all]),
  "machine versions": ({ machines }) => allow("states", ["ListStateMachineVersions"], [machines.all]),
  machines: ({ machines }) =>
    allow("states", ["CreateStateMachine", "UpdateStateMachine", "PublishStateMachineVersion"], [machines.all]),
  "old machines": ({ machines }) => allow("states", ["DeleteStateMachineVersion"], [machines.all, machines.versions]),
  /** With a session its drafts go. */
  "machines of drafts": ({ machines }) => allow("states", ["DeleteStateMachine"], [machines.drafts]),
  "what machines run as": ({ machines }) =>
    allow("iam", ["PassRole"], [machines.role], passedTo("states.amazonaws.com")),

  // What may be done with events, rules, schedules and mails.
  events: ({ events }) => allow("events", ["PutEvents"], [events.bus]),
  "undelivered events": ({ undelivered }) => allow("sqs", ["SendMessage"], [undelivered.queueArn]),
  "rules of triggers": ({ events }) => allow("events", madeOfRules, events.rules),
  /** `ForAllValues` holds for a call without targets, but there is no such call. */
  "targets of rules": ({ events }) =>
    allow("events", ["PutTargets"], events.rules, {
      "ForAllValues:ArnEquals": { "events:TargetArn": [events.firing] },
    }),
  schedules: ({ events }) => allow("scheduler", madeOfSchedules, [events.schedules]),
  "what schedules run as": ({ events }) =>
    allow("iam", ["PassRole"], [events.schedulesRole], passedTo("scheduler.amazonaws.com")),
  mails: ({ senders }) => allow("ses", ["SendEmail"], senders),
} satisfies Record<string, (to: Grantable) => PolicyStatement>;

export type Grant = keyof typeof grants;
