import { tableDefinition } from "@nova/aws/table";
import { AttributeType, BillingMode, ProjectionType, Table } from "aws-cdk-lib/aws-dynamodb";
import { AnyPrincipal, Effect, PolicyDocument, PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key, type KeyProps, KeySpec, KeyUsage } from "aws-cdk-lib/aws-kms";
import * as s3 from "aws-cdk-lib/aws-s3";
import { Duration, Stack } from "aws-cdk-lib/core";
import type { Construct } from "constructs";
import { allow, explain, roleArn } from "./access.ts";
import { partitions, type Storage } from "./grants.ts";
import { consoleOrigin, mailSettingsFrom, proofKeyCount, type Stage, splitList, stageOf } from "./settings.ts";
import type { StackContext } from "./sst.ts";

export function storage({ stack, app }: StackContext): Storage {
  const stage = stageOf(app);
  const uses = {
    origins: [...splitList(process.env.NOVA_CORS_ORIGINS), consoleOrigin(process.env)],
    takesMail: mailSettingsFrom(process.env).domains.length > 0,
  };
  const table = createTable(stack, stage);
  const bucket = createBucket(stack, stage, uses);
  const keys = createKeys(stack, stage);
  stack.addOutputs({ Table: table.tableName, Bucket: bucket.bucketName, SigningKey: keys.signing.keyId });
  return { table, bucket, keys };
}

interface BucketUses {
  /** Origins of pages that send uploads and fetch blobs with signed addresses. */
  origins: string[];
  takesMail: boolean;
}

/** The number of days for which undelivered events, and the objects that they name, are kept. */
const undeliveredDays = 14;

/**
 * Creates the bucket. NOVA writes each object once, and deletes objects by prefix. Deleted blobs can be restored for 30
 * days.
 */
function createBucket(stack: Stack, stage: Stage, { origins, takesMail }: BucketUses): s3.Bucket {
  const methods = { allowedMethods: [s3.HttpMethods.GET, s3.HttpMethods.PUT], allowedHeaders: ["*"] };
  const bucket = new s3.Bucket(stack, "Bucket", {
    ...privateBucket(stage),
    versioned: true,
    serverAccessLogsBucket: createLogBucket(stack, stage),
    serverAccessLogsPrefix: "access/",
    cors: [{ ...methods, allowedOrigins: origins }],
    lifecycleRules: [
      { abortIncompleteMultipartUploadAfter: Duration.days(1) },
      expireVersions("blobs/", 30),
      expireVersions("workflows/", 90),
      // S3 deletes an upload after a day. A run that uses an upload has copied its bytes to a blob.
      expireObjects("uploads/", 1),
      expireObjects("proofs/files/", 1),
      expireObjects("events/", undeliveredDays),
      expireObjects(mailPrefix, undeliveredDays),
    ],
  });
  if (takesMail) {
    allowIncomingMail(stack, bucket);
    (bucket.node.defaultChild as s3.CfnBucket).notificationConfiguration = {
      eventBridgeConfiguration: { eventBridgeEnabled: true },
    };
  }
  return bucket;
}

function createLogBucket(stack: Stack, stage: Stage): s3.Bucket {
  const logs = new s3.Bucket(stack, "AccessLogs", {
    ...privateBucket(stage),
    lifecycleRules: [{ expiration: Duration.days(90) }],
  });
  explain(logs, "AwsSolutions-S1", "It holds the access logs; logging its own access would never end.");
  return logs;
}

/** Returns the settings of every bucket: private, TLS only. */
export function privateBucket({ removal, isProduction }: Stage): s3.BucketProps {
  return {
    encryption: s3.BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
    objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
    removalPolicy: removal,
    autoDeleteObjects: !isProduction,
  };
}

/** Removes old versions and delete markers under a prefix, `days` after they were replaced or deleted. */
function expireVersions(prefix: string, days: number): s3.LifecycleRule {
  return { prefix, noncurrentVersionExpiration: Duration.days(days), expiredObjectDeleteMarker: true };
}

/** Deletes objects under a prefix after `days`. */
function expireObjects(prefix: string, days: number): s3.LifecycleRule {
  return { prefix, expiration: Duration.days(days), noncurrentVersionExpiration: Duration.days(1) };
}

/**
 * Operations that can remove an item. A policy cannot distinguish a BatchWriteItem that deletes from a BatchWriteItem
 * that puts.
 */
const removing = ["dynamodb:DeleteItem", "dynamodb:BatchWriteItem", "dynamodb:PartiQLUpdate", "dynamodb:PartiQLDelete"];

const staying = [partitions.chains, partitions.roots, partitions.stamps].flat();

/**
 * Forbids everyone in the account, even administrators, to delete an entry of a chain, a root of a tree or a time
 * stamp. Also forbids changes of a root or a time stamp. Only `eraser`, the ARN of the role that erases contents on
 * request, may change an entry. A principal with permission to put items can overwrite an entry: policies of DynamoDB
 * cannot require that a PutItem replaces nothing, and restoring a backup needs puts. NOVA's functions put only new
 * items. If another principal overwrites an entry of a finished run, `nova verify` reports `broken`: a valid last entry
 * needs a proof key (docs/guarantees.md).
 */
function chainStays(eraser: string): PolicyStatement[] {
  const changes = denied("ChainStaysAsItIs", ["dynamodb:UpdateItem"]);
  changes.addCondition("ArnNotEquals", { "aws:PrincipalArn": eraser });
  return [denied("ChainStays", removing), changes];
}

function denied(sid: string, actions: string[]): PolicyStatement {
  return new PolicyStatement({
    sid,
    actions,
    effect: Effect.DENY,
    principals: [new AnyPrincipal()],
    // `*` stands for the table itself, whose ARN would be a circular reference here.
    resources: ["*"],
    conditions: { "ForAnyValue:StringLike": { "dynamodb:LeadingKeys": staying } },
  });
}

/** Creates NOVA's only table, with the keys and indexes that `packages/aws` defines. */
function createTable(scope: Construct, stage: Stage): Table {
  const table = new Table(scope, "Table", {
    partitionKey: text(tableDefinition.partitionKey),
    sortKey: text(tableDefinition.sortKey),
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: stage.isProduction },
    deletionProtection: stage.isProduction,
    removalPolicy: stage.removal,
    timeToLiveAttribute: "expiresAt",
    resourcePolicy: new PolicyDocument({ statements: chainStays(roleArn(Stack.of(scope), "erase")) }),
  });
  for (const { name, partitionKey, sortKey } of tableDefinition.indexes) {
    table.addGlobalSecondaryIndex({
      indexName: name,
      partitionKey: text(partitionKey),
      sortKey: text(sortKey),
      projectionType: ProjectionType.ALL,
    });
  }
  if (!stage.isProduction) explain(table, "AwsSolutions-DDB3", "A personal stage needs no recovery.");
  return table;
}

function text(name: string) {
  return { name, type: AttributeType.STRING };
}

function createKeys(scope: Construct, { removal, isProduction }: Stage): Storage["keys"] {
  const common = { removalPolicy: removal, ...(!isProduction && { pendingWindow: Duration.days(7) }) };
  const signing = new Key(scope, "SigningKey", {
    ...common,
    description: "NOVA: makes the signatures of resume links and exports",
    keySpec: KeySpec.HMAC_256,
    keyUsage: KeyUsage.GENERATE_VERIFY_MAC,
  });
  const vault = new Key(scope, "VaultKey", {
    ...common,
    description: "NOVA: seals the task tokens of approvals, and credentials",
    enableKeyRotation: true,
  });
  const proof = Array.from({ length: proofKeyCount(process.env) }, (_, index) =>
    createProofKey(scope, index === 0 ? "ProofKey" : `ProofKey${index + 1}`, common),
  );
  return { signing, proof, vault };
}

/**
 * Creates a key pair for proofs. The key pair stays enabled for ever, because KMS does not return the public key of a
 * disabled key pair.
 */
function createProofKey(scope: Construct, id: string, common: KeyProps): Key {
  return new Key(scope, id, {
    ...common,
    description: "NOVA: signs the last entry of each chain of work, and the roots of the trees of chains",
    keySpec: KeySpec.ECC_NIST_P256,
    keyUsage: KeyUsage.SIGN_VERIFY,
  });
}

/** The prefix in the bucket for mails, and the rule of SES that writes them. */
export const mailPrefix = "mail/";
export const mailRuleSet = "nova";
export const mailRule = "into-bucket";

/** Allows SES to write mails into the bucket by the rule `mailRule` only. */
export function allowIncomingMail(stack: Stack, bucket: s3.IBucket): void {
  const rule = stack.formatArn({
    service: "ses",
    resource: "receipt-rule-set",
    resourceName: `${mailRuleSet}:receipt-rule/${mailRule}`,
  });
  const ofRule = { StringEquals: { "aws:SourceAccount": stack.account, "aws:SourceArn": rule } };
  const puts = allow("s3", ["PutObject"], [bucket.arnForObjects(`${mailPrefix}*`)], ofRule);
  puts.addPrincipals(new ServicePrincipal("ses.amazonaws.com"));
  bucket.addToResourcePolicy(puts);
}
