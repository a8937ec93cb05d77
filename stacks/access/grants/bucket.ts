import type { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { allow } from "../allow.ts";
import type { Grantable } from "../grantable.ts";

/** What may be done in the bucket, by prefix. Who gets an address of an object to sign needs what the address is for. */
export const bucketGrants = {
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
} satisfies Record<string, (to: Grantable) => PolicyStatement>;

function objects(bucket: Grantable["bucket"], actions: readonly string[], keys: string): PolicyStatement {
  return allow("s3", actions, [bucket.arnForObjects(keys)]);
}
