import { GetObjectCommand } from "@aws-sdk/client-s3";
import { s3Client } from "@nova/aws";
import type { ReadObject } from "../states/asl/host.ts";

/** What Step Functions reads from S3 by itself. The endpoint is the one that the environment names by then. */
export const readObject: ReadObject = async ({ bucket, key }) => {
  const s3 = s3Client(true);
  try {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    if (!Body) throw new Error(`S3 answered nothing for ${key}`);
    return await Body.transformToString();
  } finally {
    s3.destroy();
  }
};
