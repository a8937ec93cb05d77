import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type BucketProps,
  type CfnBucket,
  HttpMethods,
  type LifecycleRule,
  ObjectOwnership,
} from "aws-cdk-lib/aws-s3";
import { Duration } from "aws-cdk-lib/core";
import type { Stack } from "sst/constructs";
import { letMailIn, mailPrefix } from "../access/mail.ts";
import { explain } from "../findings.ts";
import type { Stage } from "../stage.ts";

export interface BucketUses {
  /** Pages that send uploads to it and fetch blobs from it, by signed addresses. */
  origins: string[];
  /** Whether SES puts mail into it. */
  takesMail: boolean;
}

/** Days that undelivered events are kept: so long what they name has to be there. */
const undeliveredDays = 14;

/** Blobs and definitions are written once and deleted by prefix; what was deleted can be had back for a month. */
export function createBucket(stack: Stack, stage: Stage, { origins, takesMail }: BucketUses): Bucket {
  const methods = { allowedMethods: [HttpMethods.GET, HttpMethods.PUT], allowedHeaders: ["*"] };
  const bucket = new Bucket(stack, "Bucket", {
    ...closed(stage),
    versioned: true,
    serverAccessLogsBucket: createLogBucket(stack, stage),
    serverAccessLogsPrefix: "access/",
    cors: [{ ...methods, allowedOrigins: origins }],
    lifecycleRules: [
      { abortIncompleteMultipartUploadAfter: Duration.days(1) },
      gone("blobs/", 30),
      gone("workflows/", 90),
      // What no run took within a day is not asked for any more.
      passing("uploads/", 1),
      passing("events/", undeliveredDays),
      passing(mailPrefix, undeliveredDays),
    ],
  });
  if (takesMail) {
    letMailIn(stack, bucket);
    (bucket.node.defaultChild as CfnBucket).notificationConfiguration = {
      eventBridgeConfiguration: { eventBridgeEnabled: true },
    };
  }
  return bucket;
}

function createLogBucket(stack: Stack, stage: Stage): Bucket {
  const logs = new Bucket(stack, "AccessLogs", {
    ...closed(stage),
    lifecycleRules: [{ expiration: Duration.days(90) }],
  });
  explain(logs, "AwsSolutions-S1", "It holds the access logs; logging its own access would never end.");
  return logs;
}

/** Of every bucket: nobody but its owner, by TLS alone. */
export function closed({ removal, isProduction }: Stage): BucketProps {
  return {
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    removalPolicy: removal,
    autoDeleteObjects: !isProduction,
  };
}

/** Old versions and delete markers of what begins so, `days` after it was replaced or deleted. */
function gone(prefix: string, days: number): LifecycleRule {
  return { prefix, noncurrentVersionExpiration: Duration.days(days), expiredObjectDeleteMarker: true };
}

/** What is needed for `days`, and then deleted for good. */
function passing(prefix: string, days: number): LifecycleRule {
  return { prefix, expiration: Duration.days(days), noncurrentVersionExpiration: Duration.days(1) };
}
