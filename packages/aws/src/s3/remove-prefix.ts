import { DeleteObjectsCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { StoreUnavailable } from "@nova/engine";
import { reaching } from "../clients/outage.ts";
import type { BucketConnection } from "./connection.ts";

/** Deletes every object whose key begins so, a thousand in one request. */
export async function removePrefix({ client, bucket }: BucketConnection, prefix: string): Promise<void> {
  for (;;) {
    const list = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix });
    const { Contents = [], IsTruncated } = await reaching("S3", () => client.send(list));
    if (Contents.length === 0) return;
    const Objects = Contents.map(({ Key }) => ({ Key }));
    const removal = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } });
    const { Errors: [failed] = [] } = await reaching("S3", () => client.send(removal));
    if (failed) throw new StoreUnavailable(`S3 did not delete ${failed.Key} (${failed.Code}) - try again`);
    if (!IsTruncated) return;
  }
}
