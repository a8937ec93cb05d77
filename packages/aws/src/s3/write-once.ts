import type { Readable } from "node:stream";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { reaching } from "../clients/outage.ts";
import { patiently } from "../clients/patience.ts";
import { conflict } from "../clients/retries.ts";
import type { BucketConnection } from "./connection.ts";

export interface NewObject {
  key: string;
  bytes: number;
  /** Hex. S3 refuses a body that has another one, so a damaged body is never visible under the key. */
  sha256: string;
  contentType: string;
  /** A stream is made anew for each attempt. */
  body: Uint8Array | (() => Readable);
}

/** Puts an object unless its key is taken: a key that is written once has the right contents already. */
export async function writeOnce({ client, bucket }: BucketConnection, object: NewObject): Promise<void> {
  const send = (body: Uint8Array | Readable) =>
    client.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key: object.key,
        Body: body,
        ContentLength: object.bytes,
        ContentType: object.contentType,
        ChecksumSHA256: Buffer.from(object.sha256, "hex").toString("base64"),
        IfNoneMatch: "*",
      }),
    );
  const { body } = object;
  const put = () => (body instanceof Uint8Array ? send(body) : patiently(() => send(body()), [conflict]));
  try {
    await reaching("S3", put);
  } catch (error) {
    if (error instanceof Error && error.name === "PreconditionFailed") return;
    throw error;
  }
}
