import { GetObjectCommand } from "@aws-sdk/client-s3";
import type { BlobLinks } from "@nova/service";
import { blobKey } from "./blob-store.ts";
import type { BucketConnection } from "./connection.ts";
import { headObject } from "./head-object.ts";

export function createBlobLinks({ client, bucket }: BucketConnection): BlobLinks {
  return {
    async sign(home, sha256, expiresIn) {
      const key = blobKey(home, sha256);
      const [{ getSignedUrl }, head] = await Promise.all([
        import("@aws-sdk/s3-request-presigner"),
        headObject({ client, bucket }, key),
      ]);
      return head && getSignedUrl(client, new GetObjectCommand({ Bucket: bucket, Key: key }), { expiresIn });
    },
  };
}
