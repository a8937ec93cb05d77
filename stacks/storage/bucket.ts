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
import { allowIncomingMail, mailPrefix } from "../access/mail.ts";
import { explain } from "../findings.ts";
import type { Stack } from "../sst.ts";
import type { Stage } from "../stage.ts";

export interface BucketUses {
  /** Origins of pages that send uploads and fetch blobs with signed addresses. */
  origins: string[];
  /** True if SES writes mails into it. */
  takesMail: boolean;
}

/** Days that undelivered events are kept, and so the objects that they name. */
const undeliveredDays = 14;

/**
 * Creates the bucket. Blobs and definitions are written once and deleted by prefix; deleted ones can be restored for a
 * month.
 */
export function createBucket(stack: Stack, stage: Stage, { origins, takesMail }: BucketUses): Bucket {
  const methods = { allowedMethods: [HttpMethods.GET, HttpMethods.PUT], allowedHeaders: ["*"] };
  const bucket = new Bucket(stack, "Bucket", {
    ...privateBucket(stage),
    versioned: true,
    serverAccessLogsBucket: createLogBucket(stack, stage),
    serverAccessLogsPrefix: "access/",
    cors: [{ ...methods, allowedOrigins: origins }],
    lifecycleRules: [
      { abortIncompleteMultipartUploadAfter: Duration.days(1) },
      expireVersions("blobs/", 30),
      expireVersions("workflows/", 90),
      // Uploads that no run used within a day are deleted.
      expireObjects("uploads/", 1),
      expireObjects("events/", undeliveredDays),
      expireObjects(mailPrefix, undeliveredDays),
    ],
  });
  if (takesMail) {
    allowIncomingMail(stack, bucket);
    (bucket.node.defaultChild as CfnBucket).notificationConfiguration = {
      eventBridgeConfiguration: { eventBridgeEnabled: true },
    };
  }
  return bucket;
}

function createLogBucket(stack: Stack, stage: Stage): Bucket {
  const logs = new Bucket(stack, "AccessLogs", {
    ...privateBucket(stage),
    lifecycleRules: [{ expiration: Duration.days(90) }],
  });
  explain(logs, "AwsSolutions-S1", "It holds the access logs; logging its own access would never end.");
  return logs;
}

/** Settings of every bucket: private, TLS only. */
export function privateBucket({ removal, isProduction }: Stage): BucketProps {
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

/** Removes old versions and delete markers under a prefix, `days` after they were replaced or deleted. */
function expireVersions(prefix: string, days: number): LifecycleRule {
  return { prefix, noncurrentVersionExpiration: Duration.days(days), expiredObjectDeleteMarker: true };
}

/** Deletes objects under a prefix after `days`. */
function expireObjects(prefix: string, days: number): LifecycleRule {
  return { prefix, expiration: Duration.days(days), noncurrentVersionExpiration: Duration.days(1) };
}
