import { Bucket } from "aws-cdk-lib/aws-s3";
import type { Stack } from "sst/constructs";
import { explain } from "../findings.ts";
import type { Stage } from "../stage.ts";
import { closed } from "../storage/bucket.ts";

/** The files of the built page. Whoever deploys again makes them anew. */
export function createPageBucket(stack: Stack, stage: Stage): Bucket {
  const bucket = new Bucket(stack, "Pages", { ...closed(stage) });
  explain(bucket, "AwsSolutions-S1", "It holds the files of a page that everybody may see, and none of a run's data.");
  return bucket;
}
