import { Bucket } from "aws-cdk-lib/aws-s3";
import { explain } from "../findings.ts";
import type { Stack } from "../sst.ts";
import type { Stage } from "../stage.ts";
import { closed } from "../storage/bucket.ts";

/** The bucket for the files of the built page. Each deployment uploads them again. */
export function createPageBucket(stack: Stack, stage: Stage): Bucket {
  const bucket = new Bucket(stack, "Pages", { ...closed(stage) });
  explain(bucket, "AwsSolutions-S1", "It holds the files of a public page, and no data of runs.");
  return bucket;
}
