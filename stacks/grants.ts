import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Key } from "aws-cdk-lib/aws-kms";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { allow, type EventArns, type MachineArns, type SecretName } from "./access.ts";

export interface Storage {
  table: Table;
  bucket: Bucket;
  keys: {
    /** Makes the HMACs that only NOVA checks: for resume links, vote links and exports. */
    signing: Key;
    /**
     * Keys that sign the last entries of chains and the roots of trees, the newest last. Everyone can check these
     * signatures.
     */
    proof: Key[];
    /** Encrypts task tokens and the data keys of credentials. */
    vault: Key;
  };
}

/** All resources that a grant can refer to. */
export interface Grantable extends Storage {
  machines: MachineArns;
  events: EventArns;
  undelivered: Queue;
  senders: readonly string[];
  parameter(name: SecretName): string;
}

/** Patterns for the partition keys of the table in IAM. packages/aws/README.md has a picture. */
export const partitions = {
  chains: ["C#*"],
  executions: ["E#*"],
  labels: ["LABEL#*"],
  tasks: ["T#*"],
  /** Waiting tasks by the keys of events, and the recent events. */
  wakes: ["WAKE#*"],
  /** The event fields by which events find waiting tasks. */
  shapes: ["SHAPE#*"],
  generations: ["G#*"],
  workflows: ["W#*"],
  triggers: ["TRIGGER#*"],
  deliveries: ["DELIVERY#*"],
  credentials: ["S#*"],
  clients: ["CLIENT#*"],
  keys: ["K#*"],
  rates: ["R#*"],
  /** Records of requests with an idempotency key. */
  attempts: ["I#*"],
  audit: ["A"],
  figures: ["F#*"],
  uploads: ["U#*"],
  sessions: ["SESSION#*"],
  queues: ["Q#*"],
  spendings: ["M#*"],
  /** Closed runs that wait for a Merkle tree. */
  leaves: ["LEAF#*"],
  /** The roots of trees, and their time stamps. */
  roots: ["ROOT"],
  stamps: ["STAMP"],
  dailyChecks: ["DAILYCHECK"],
};

/** Partitions whose items NOVA erases with their client. The client's chains, its executions and the audit log stay. */
export const erasable = [
  partitions.labels,
  partitions.tasks,
  partitions.wakes,
  partitions.credentials,
  partitions.clients,
  partitions.keys,
  partitions.generations,
  partitions.deliveries,
  partitions.rates,
  partitions.attempts,
  partitions.figures,
  partitions.uploads,
  partitions.sessions,
  partitions.spendings,
].flat();

/**
 * Allows actions on items whose partition keys match `keys`. `ForAllValues` is also true for a call without a partition
 * key, but each of these actions needs one.
 */
function items(table: Table, actions: readonly string[], keys: readonly string[]): PolicyStatement {
  return allow("dynamodb", actions, [table.tableArn], { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": keys } });
}

function indexes(table: Table, name: string): PolicyStatement {
  return allow("dynamodb", ["Query"], [`${table.tableArn}/index/${name}`]);
}

function arnOfKey({ keyArn }: Key): string {
  return keyArn;
}

function objects(bucket: Bucket, actions: readonly string[], keys: string): PolicyStatement {
  return allow("s3", actions, [bucket.arnForObjects(keys)]);
}

/**
 * A condition that is true only for credentials. Only the encryption context of a credential contains `name`; a task
 * token has another context.
 */
const ofCredentials = encryptedFor("name");

/**
 * A condition that is true only for task tokens, whose encryption context contains `task`. So a function that answers
 * tasks cannot decrypt credentials.
 */
const ofTasks = encryptedFor("task");

/**
 * Returns a condition that requires this key in the encryption context. KMS decrypts a text only with the context with
 * which it was encrypted.
 */
function encryptedFor(key: string) {
  return { "ForAnyValue:StringEquals": { "kms:EncryptionContextKeys": [key] } };
}

/** Returns a condition that allows PassRole for one service only. */
function passedToService(service: string) {
  return { StringEquals: { "iam:PassedToService": service } };
}

/** Proof files that are too large for an answer of the API. */
const proofFiles = "proofs/files/*";

const ruleActions = ["PutRule", "RemoveTargets", "DeleteRule"];
const scheduleActions = ["CreateSchedule", "GetSchedule", "UpdateSchedule", "DeleteSchedule"];

/** The permissions of functions: each is one statement on one resource. */
export const grants = {
  // Permissions in the table: by partition, by index, and for the whole table.
  "chain of work": ({ table }) => items(table, ["Query", "BatchGetItem", "PutItem"], partitions.chains),
  /** Reads chains to verify them. */
  chains: ({ table }) => items(table, ["Query", "BatchGetItem"], partitions.chains),
  executions: ({ table }) => items(table, ["GetItem"], partitions.executions),
  labels: ({ table }) => items(table, ["Query"], partitions.labels),
  "changed executions": ({ table }) => items(table, ["UpdateItem"], partitions.executions),
  "new executions": ({ table }) => items(table, ["PutItem"], partitions.executions),
  "new labels": ({ table }) => items(table, ["PutItem"], partitions.labels),
  tasks: ({ table }) => items(table, ["GetItem", "Query", "UpdateItem"], partitions.tasks),
  "new tasks": ({ table }) => items(table, ["PutItem"], partitions.tasks),

  /** Includes deletion, because events must not find an ended task any more. */
  wakes: ({ table }) => items(table, ["Query", "PutItem", "DeleteItem"], partitions.wakes),
  /** NOVA writes the shapes before a run starts. From then on, NOVA stores the events for which the run may wait. */
  "shapes of events": ({ table }) => items(table, ["Query", "PutItem"], partitions.shapes),

  /** Reads the versions of workflows, which version is active, and queued publications. */
  versions: ({ table }) => items(table, ["GetItem", "Query"], partitions.workflows),
  "new versions": ({ table }) => items(table, ["PutItem", "UpdateItem"], partitions.workflows),
  /** Records when a lost publication was queued again. */
  "lost publications": ({ table }) => items(table, ["UpdateItem"], partitions.workflows),
  generations: ({ table }) => items(table, ["PutItem", "UpdateItem"], partitions.generations),
  /** Lets a person approve or reject code after a review. */
  "reviewed code": ({ table }) => items(table, ["UpdateItem"], partitions.generations),
  /** Reads the recorded cost of writing code, which each run of pinned code saves. */
  "written code": ({ table }) => items(table, ["Query"], partitions.generations),

  credentials: ({ table }) => items(table, ["Query"], partitions.credentials),
  /** Reads credentials, and stores a refreshed token before it is used. */
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
  "new leaves": ({ table }) => items(table, ["PutItem"], partitions.leaves),
  "daily checks": ({ table }) => items(table, ["GetItem", "PutItem"], partitions.dailyChecks),
  /** Reads closed runs that wait for a tree, and removes a run from the list after a tree contains it. */
  "closed runs": ({ table }) => items(table, ["Query", "DeleteItem"], partitions.leaves),
  roots: ({ table }) => items(table, ["GetItem", "Query"], [...partitions.roots, ...partitions.stamps]),
  "new roots": ({ table }) => items(table, ["PutItem"], [...partitions.roots, ...partitions.stamps]),
  queues: ({ table }) => items(table, ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"], partitions.queues),
  spendings: ({ table }) => items(table, ["Query"], partitions.spendings),
  "new spendings": ({ table }) => items(table, ["PutItem"], partitions.spendings),
  uploads: ({ table }) => items(table, ["GetItem"], partitions.uploads),
  "new uploads": ({ table }) => items(table, ["PutItem"], partitions.uploads),
  sessions: ({ table }) => items(table, ["GetItem"], partitions.sessions),
  "changed sessions": ({ table }) => items(table, ["PutItem"], partitions.sessions),
  triggers: ({ table }) => items(table, ["GetItem"], partitions.triggers),
  "new triggers": ({ table }) => items(table, ["PutItem", "DeleteItem"], partitions.triggers),
  /** Pauses the trigger of an unreadable mailbox. */
  "paused triggers": ({ table }) => items(table, ["UpdateItem"], partitions.triggers),
  deliveries: ({ table }) => items(table, ["GetItem", "PutItem", "UpdateItem"], partitions.deliveries),

  "open list": ({ table }) => indexes(table, "open"),
  "workflow lists": ({ table }) => indexes(table, "by-workflow"),
  /** Lists keys, clients and pools. They share one index with the other records of clients. */
  "client lists": ({ table }) => indexes(table, "by-client"),
  /** Only a scan finds all records of a client (for erasure and export) and all stored formats. */
  "whole table": ({ table }) => allow("dynamodb", ["Scan"], [table.tableArn]),

  "contents of chains": ({ table }) => items(table, ["UpdateItem"], partitions.chains),
  "erased records": ({ table }) => items(table, ["DeleteItem"], erasable),

  // Permissions in the bucket, by prefix. A function that signs an address needs the permission that the address
  // grants.
  blobs: ({ bucket }) => objects(bucket, ["GetObject", "PutObject"], "blobs/*"),
  "contents of blobs": ({ bucket }) => objects(bucket, ["GetObject"], "blobs/*"),
  definitions: ({ bucket }) => objects(bucket, ["GetObject"], "workflows/*"),
  "new definitions": ({ bucket }) => objects(bucket, ["PutObject"], "workflows/*"),
  /** The leaves of Merkle trees. */
  trees: ({ bucket }) => objects(bucket, ["GetObject"], "proofs/trees/*"),
  "new trees": ({ bucket }) => objects(bucket, ["PutObject"], "proofs/trees/*"),
  /** Events that exceed the size of a bus entry. */
  "large events": ({ bucket }) => objects(bucket, ["PutObject"], "events/*"),
  "whole events": ({ bucket }) => objects(bucket, ["GetObject"], "events/*"),
  "uploaded bytes": ({ bucket }) => objects(bucket, ["GetObject"], "uploads/*"),
  "new uploaded bytes": ({ bucket }) => objects(bucket, ["PutObject"], "uploads/*"),
  "proof files": ({ bucket }) => objects(bucket, ["GetObject", "PutObject"], proofFiles),
  "incoming mail": ({ bucket }) => objects(bucket, ["GetObject"], "mail/*"),
  "erased objects": ({ bucket }) =>
    allow(
      "s3",
      ["DeleteObject"],
      ["blobs/*", "uploads/*", proofFiles].map((keys) => bucket.arnForObjects(keys)),
    ),
  /**
   * Without ListBucket, S3 answers 403 for a missing object, so an erased blob would look like a forbidden blob. A
   * condition on `s3:prefix` would not help: a GetObject has no prefix, so S3 would still answer 403. Erasures and
   * exports also list objects.
   */
  absence: ({ bucket }) => allow("s3", ["ListBucket"], [bucket.bucketArn]),

  // Permissions for keys: NOVA's own in KMS, and API keys in parameters.
  signing: ({ keys }) => allow("kms", ["GenerateMac"], [keys.signing.keyArn]),
  "checking signatures": ({ keys }) => allow("kms", ["VerifyMac"], [keys.signing.keyArn]),
  "signing proofs": ({ keys }) => allow("kms", ["Sign", "GetPublicKey"], keys.proof.slice(-1).map(arnOfKey)),
  "published keys": ({ keys }) => allow("kms", ["GetPublicKey", "DescribeKey"], keys.proof.map(arnOfKey)),
  sealing: ({ keys }) => allow("kms", ["Encrypt"], [keys.vault.keyArn], ofTasks),
  /** A credential may be too long for KMS, so the Encryption SDK encrypts each credential with a separate data key. */
  "sealing credentials": ({ keys }) => allow("kms", ["GenerateDataKey"], [keys.vault.keyArn], ofCredentials),
  "opening credentials": ({ keys }) => allow("kms", ["Decrypt"], [keys.vault.keyArn], ofCredentials),
  unsealing: ({ keys }) => allow("kms", ["Decrypt"], [keys.vault.keyArn], ofTasks),

  "E2B's key": ({ parameter }) => allow("ssm", ["GetParameters"], [parameter("E2B_API_KEY")]),
  "the models' key": ({ parameter }) => allow("ssm", ["GetParameters"], [parameter("OPENAI_API_KEY")]),

  // Permissions for state machines and their executions.
  "run starts": ({ machines }) => allow("states", ["StartExecution"], [machines.all, machines.versions]),
  runs: ({ machines }) => allow("states", ["DescribeExecution"], [machines.executions]),
  "ends of runs": ({ machines }) => allow("states", ["StopExecution"], [machines.executions]),
  "run lists": ({ machines }) => allow("states", ["ListExecutions"], [machines.all]),
  "task answers": ({ machines }) => allow("states", ["SendTaskSuccess"], [machines.all]),
  "machine versions": ({ machines }) => allow("states", ["ListStateMachineVersions"], [machines.all]),
  machines: ({ machines }) =>
    allow("states", ["CreateStateMachine", "UpdateStateMachine", "PublishStateMachineVersion"], [machines.all]),
  "old machines": ({ machines }) => allow("states", ["DeleteStateMachineVersion"], [machines.all, machines.versions]),
  /** Deletes the state machines of a session's drafts when the session is deleted. */
  "machines of drafts": ({ machines }) => allow("states", ["DeleteStateMachine"], [machines.drafts]),
  "what machines run as": ({ machines }) =>
    allow("iam", ["PassRole"], [machines.role], passedToService("states.amazonaws.com")),

  // Permissions for events, rules, schedules and mails.
  events: ({ events }) => allow("events", ["PutEvents"], [events.bus]),
  "undelivered events": ({ undelivered }) => allow("sqs", ["SendMessage"], [undelivered.queueArn]),
  "rules of triggers": ({ events }) => allow("events", ruleActions, events.rules),
  /** `ForAllValues` is also true for a call without targets, but no such call exists. */
  "targets of rules": ({ events }) =>
    allow("events", ["PutTargets"], events.rules, {
      "ForAllValues:ArnEquals": { "events:TargetArn": [events.firing] },
    }),
  schedules: ({ events }) => allow("scheduler", scheduleActions, [events.schedules]),
  "what schedules run as": ({ events }) =>
    allow("iam", ["PassRole"], [events.schedulesRole], passedToService("scheduler.amazonaws.com")),
  mails: ({ senders }) => allow("ses", ["SendEmail"], senders),
} satisfies Record<string, (to: Grantable) => PolicyStatement>;

export type Grant = keyof typeof grants;

/** Reads definitions and inputs, and writes records of runs. */
const writesRuns: readonly Grant[] = [
  "chain of work",
  "executions",
  "changed executions",
  "versions",
  "blobs",
  "definitions",
  "absence",
];

/** Permissions to find the position of a run and to continue its chain. */
export const followsRuns: readonly Grant[] = [...writesRuns, "tasks", "wakes", "shapes of events"];

/** Reads credentials to mask their values. */
export const masksSecrets: readonly Grant[] = ["credentials", "opening credentials"];

/** Puts events on the bus, including large ones. */
export const sendsEvents: readonly Grant[] = ["events", "large events"];

/** Updates statistics, notes runs for the next tree, releases slots, and starts queued runs. */
const looksAfterRuns: readonly Grant[] = ["figures", "new leaves", "written code", "queues", "clients", "run starts"];

/** Ends a run and its child executions: signs, stops state machines, kills sandboxes. */
export const closesRuns: readonly Grant[] = [
  ...followsRuns,
  ...masksSecrets,
  ...looksAfterRuns,
  ...sendsEvents,
  "signing proofs",
  "runs",
  "ends of runs",
  "E2B's key",
];

export const answersTasks: readonly Grant[] = ["unsealing", "task answers"];

/** Starts a run of a client, or queues it. */
export const startsRuns: readonly Grant[] = [
  ...writesRuns,
  "new executions",
  "new labels",
  "shapes of events",
  "clients",
  "queues",
  "spendings",
  "uploads",
  "uploaded bytes",
  "run starts",
  "runs",
];

/**
 * Starts a run of a trigger and records the delivery. If the client is deleted, it sends an event to a function that
 * may end the run.
 */
export const takesDeliveries: readonly Grant[] = [
  ...startsRuns,
  "events",
  "triggers",
  "deliveries",
  "undelivered events",
];

/** Reads the values of credentials, and refreshes expired ones. */
export const usesCredentials: readonly Grant[] = [...masksSecrets, "refreshed credentials", "sealing credentials"];

/** Puts closed runs into Merkle trees. The notes in the chains and the signatures need further permissions. */
export const makesRoots: readonly Grant[] = ["closed runs", "roots", "new roots", "trees", "new trees"];

/** Creates and removes the triggers of a workflow. */
export const makesTriggers: readonly Grant[] = [
  "triggers",
  "new triggers",
  "rules of triggers",
  "targets of rules",
  "schedules",
  "what schedules run as",
];
