import { HeadObjectCommand } from "@aws-sdk/client-s3";
import { reaching } from "../clients/outage.ts";
import type { BucketConnection } from "./connection.ts";

export interface ObjectHead {
  bytes: number;
  etag: string;
  /** In hex; absent where the object was written without it. */
  sha256?: string;
}

/** What is known of an object without reading it; undefined where there is none. */
export async function headObject({ client, bucket }: BucketConnection, key: string): Promise<ObjectHead | undefined> {
  const head = new HeadObjectCommand({ Bucket: bucket, Key: key, ChecksumMode: "ENABLED" });
  try {
    const {
      ContentLength: bytes = 0,
      ETag: etag = "",
      ChecksumSHA256: sum,
    } = await reaching("S3", () => client.send(head));
    return { bytes, etag, ...(sum !== undefined && { sha256: Buffer.from(sum, "base64").toString("hex") }) };
  } catch (error) {
    if (error instanceof Error && (error.name === "NotFound" || error.name === "NoSuchKey")) return undefined;
    throw error;
  }
}
