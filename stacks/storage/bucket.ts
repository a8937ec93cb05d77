import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type BucketProps,
  type LifecycleRule,
  ObjectOwnership,
} from "aws-cdk-lib/aws-s3";
import { Duration } from "aws-cdk-lib/core";
import type { Construct } from "constructs";
import { explain } from "../findings.ts";
import type { Stage } from "../stage.ts";

/** Blobs and definitions. They are written once and deleted by prefix; what was deleted can be had back for a month. */
export function createBucket(scope: Construct, stage: Stage): Bucket {
  return new Bucket(scope, "Bucket", {
    ...closed(stage),
    versioned: true,
    serverAccessLogsBucket: createLogBucket(scope, stage),
    serverAccessLogsPrefix: "access/",
    lifecycleRules: [
      { abortIncompleteMultipartUploadAfter: Duration.days(1) },
      gone("blobs/", 30),
      gone("workflows/", 90),
      // What no run took within a day is not asked for any more.
      { prefix: "uploads/", expiration: Duration.days(1), noncurrentVersionExpiration: Duration.days(1) },
    ],
  });
}

function createLogBucket(scope: Construct, stage: Stage): Bucket {
  const logs = new Bucket(scope, "AccessLogs", {
    ...closed(stage),
    lifecycleRules: [{ expiration: Duration.days(90) }],
  });
  explain(logs, "AwsSolutions-S1", "It holds the access logs; logging its own access would never end.");
  return logs;
}

function closed({ removal, isProduction }: Stage): BucketProps {
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
