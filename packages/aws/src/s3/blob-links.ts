import { GetObjectCommand } from "@aws-sdk/client-s3";
import type { BlobLinks } from "@nova/service";
import { blobKey } from "./blob-store.ts";
import type { BucketConnection } from "./connection.ts";

export function createBlobLinks({ client, bucket }: BucketConnection): BlobLinks {
  return {
    async sign(home, sha256, expiresIn) {
      const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner");
      return getSignedUrl(client, new GetObjectCommand({ Bucket: bucket, Key: blobKey(home, sha256) }), { expiresIn });
    },
  };
}
