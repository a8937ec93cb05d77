import { createHash } from "node:crypto";
import { CopyObjectCommand, GetObjectCommand } from "@aws-sdk/client-s3";
import { type BlobHome, StoreUnavailable } from "@nova/engine";
import { reaching } from "../clients/outage.ts";
import { blobKey } from "./blob-store.ts";
import { type BucketConnection, headObject } from "./objects.ts";

/** Somebody sent other bytes while the object was read. */
export class UploadChanged extends StoreUnavailable {
  override name = "UploadChanged";
}

/**
 * Makes an object a blob, which its contents name, without moving its bytes: S3 copies. Only where nobody said what they
 * hash to are they read, once. Undefined where there is no object.
 */
export async function placeObject(
  { client, bucket }: BucketConnection,
  key: string,
  home: BlobHome,
): Promise<{ sha256: string; bytes: number } | undefined> {
  const found = await headObject({ client, bucket }, key);
  if (!found) return undefined;
  const { bytes, etag } = found;
  const sha256 = found.sha256 ?? (await hashOf({ client, bucket }, key, etag));
  const copy = new CopyObjectCommand({
    ...{ Bucket: bucket, Key: blobKey(home, sha256) },
    CopySource: `${bucket}/${key}`,
    CopySourceIfMatch: etag,
    ...{ MetadataDirective: "REPLACE", ContentType: "application/octet-stream" },
  });
  await unlessChanged(key, () => client.send(copy));
  return { sha256, bytes };
}

async function hashOf({ client, bucket }: BucketConnection, key: string, etag: string): Promise<string> {
  const hash = createHash("sha256");
  const get = new GetObjectCommand({ Bucket: bucket, Key: key, IfMatch: etag });
  const { Body } = await unlessChanged(key, () => client.send(get));
  for await (const chunk of Body as AsyncIterable<Uint8Array>) hash.update(chunk);
  return hash.digest("hex");
}

async function unlessChanged<T>(key: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await reaching("S3", ask);
  } catch (cause) {
    if (!(cause instanceof Error) || cause.name !== "PreconditionFailed") throw cause;
    throw new UploadChanged(`other bytes came for ${key} while it was copied - try again`, { cause });
  }
}
