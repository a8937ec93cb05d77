import type { S3Client } from "@aws-sdk/client-s3";

export interface BucketConnection {
  client: S3Client;
  bucket: string;
}
