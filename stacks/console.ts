import type { Bucket } from "aws-cdk-lib/aws-s3";
import { api } from "./api.ts";
import { createDistribution, createPageBucket } from "./console/distribution.ts";
import { type StackContext, use } from "./sst.ts";
import { stageOf } from "./stage.ts";
import { storage } from "./storage.ts";

/** The web page and the API at one address. `npm run deploy` uploads the built page into the bucket. */
export function console({ stack, app }: StackContext) {
  const pages: Bucket = createPageBucket(stack, stageOf(app));
  const { url, dns } = createDistribution(stack, {
    pages,
    apiHost: use(api).host,
    blobHost: use(storage).bucket.bucketRegionalDomainName,
    env: process.env,
  });
  stack.addOutputs({ Url: url, Pages: pages.bucketName, ...(dns !== undefined && { Dns: dns }) });
}
