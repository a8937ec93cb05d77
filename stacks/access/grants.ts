import type { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { SecretName } from "../engine/settings.ts";
import type { Storage } from "../storage.ts";
import { allow } from "./allow.ts";
import type { MachineArns } from "./machines.ts";
import {
  chainPartitions,
  clientPartitions,
  credentialPartitions,
  executionPartitions,
  figurePartitions,
  generationPartitions,
  queuePartitions,
  spendingPartitions,
  taskPartitions,
  workflowPartitions,
} from "./partitions.ts";

export interface Grantable extends Storage {
  machines: MachineArns;
  undelivered: Queue;
  /** ARN of NOVA's bus. */
  bus: string;
  /** ARN of a key's parameter in Systems Manager. */
  parameter(name: SecretName): string;
}

/** What is sealed for a name, as no task token is. */
const ofCredentials = { "ForAnyValue:StringEquals": { "kms:EncryptionContextKeys": ["name"] } };

/** What a function may be allowed to do, each by one statement on one thing of ours. */
export const grants = {
  "chain of work": ({ table }) => items(table, ["Query", "PutItem"], chainPartitions),
  executions: ({ table }) => items(table, ["GetItem", "UpdateItem"], executionPartitions),
  "new executions": ({ table }) => items(table, ["PutItem"], executionPartitions),
  "open list": ({ table }) => allow("dynamodb", ["Query"], [`${table.tableArn}/index/open`]),
  tasks: ({ table }) => items(table, ["GetItem", "Query", "UpdateItem"], taskPartitions),
  "new tasks": ({ table }) => items(table, ["PutItem"], taskPartitions),
  versions: ({ table }) => items(table, ["GetItem", "Query"], workflowPartitions),
  credentials: ({ table }) => items(table, ["Query"], credentialPartitions),
  /** A token that was got anew is stored before it is used. */
  "refreshed credentials": ({ table }) => items(table, ["GetItem", "PutItem"], credentialPartitions),
  clients: ({ table }) => items(table, ["GetItem"], clientPartitions),
  /** Of keys, clients and pools, which lie in one index with what belongs to clients. */
  "client lists": ({ table }) => allow("dynamodb", ["Query"], [`${table.tableArn}/index/by-client`]),
  figures: ({ table }) => items(table, ["PutItem"], figurePartitions),
  queues: ({ table }) => items(table, ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"], queuePartitions),
  spendings: ({ table }) => items(table, ["Query", "PutItem"], spendingPartitions),
  /** What pinned code has saved is what writing it has cost. */
  "written code": ({ table }) => items(table, ["Query"], generationPartitions),
  generations: ({ table }) => items(table, ["PutItem", "UpdateItem"], generationPartitions),

  blobs: ({ bucket }) => allow("s3", ["GetObject", "PutObject"], [bucket.arnForObjects("blobs/*")]),
  definitions: ({ bucket }) => allow("s3", ["GetObject"], [bucket.arnForObjects("workflows/*")]),
  /** Without it S3 answers 403 for what is not there, and an erased blob could not be told from a forbidden one. */
  absence: ({ bucket }) => allow("s3", ["ListBucket"], [bucket.bucketArn]),

  signing: ({ keys }) => allow("kms", ["GenerateMac"], [keys.signing.keyArn]),
  sealing: ({ keys }) => allow("kms", ["Encrypt"], [keys.vault.keyArn]),
  /** By the Encryption SDK, which seals longer texts than KMS takes: one data key for each. */
  "sealing credentials": ({ keys }) => allow("kms", ["GenerateDataKey"], [keys.vault.keyArn], ofCredentials),
  "opening credentials": ({ keys }) => allow("kms", ["Decrypt"], [keys.vault.keyArn], ofCredentials),
  unsealing: ({ keys }) => allow("kms", ["Decrypt"], [keys.vault.keyArn]),

  "run starts": ({ machines }) => allow("states", ["StartExecution"], [machines.all, machines.versions]),
  runs: ({ machines }) => allow("states", ["DescribeExecution", "StopExecution"], [machines.executions]),
  "run lists": ({ machines }) => allow("states", ["ListExecutions"], [machines.all]),
  "task answers": ({ machines }) => allow("states", ["SendTaskSuccess"], [machines.all]),

  events: ({ bus }) => allow("events", ["PutEvents"], [bus]),
  /** What no entry of a bus can hold. */
  "whole events": ({ bucket }) => allow("s3", ["GetObject"], [bucket.arnForObjects("events/*")]),
  "undelivered events": ({ undelivered }) => allow("sqs", ["SendMessage"], [undelivered.queueArn]),

  "E2B's key": ({ parameter }) => allow("ssm", ["GetParameters"], [parameter("E2B_API_KEY")]),
  "the models' key": ({ parameter }) => allow("ssm", ["GetParameters"], [parameter("OPENAI_API_KEY")]),
} satisfies Record<string, (to: Grantable) => PolicyStatement>;

export type Grant = keyof typeof grants;

/** `ForAllValues` holds for a call without any key, but none of these actions can be called without one. */
function items(table: Storage["table"], actions: readonly string[], partitions: readonly string[]): PolicyStatement {
  return allow("dynamodb", actions, [table.tableArn], {
    "ForAllValues:StringLike": { "dynamodb:LeadingKeys": partitions },
  });
}
