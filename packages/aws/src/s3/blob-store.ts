import { createHash } from "node:crypto";
import { CopyObjectCommand, GetObjectCommand } from "@aws-sdk/client-s3";
import { type BlobHome, BlobMissing, type BlobStore, StoreUnavailable } from "@nova/engine";
import type { BlobLinks } from "@nova/service";
import { reportOutage } from "../clients/outage.ts";
import {
  type BucketConnection,
  checkChunks,
  headObject,
  type ObjectBody,
  readObject,
  signGet,
  spool,
  writeOnce,
} from "./objects.ts";

/**
 * Creates the store of blobs in S3. The SHA-256 of a blob's contents is its name, and both writes and reads check this
 * hash.
 */
export function createBlobStore(connection: BucketConnection): BlobStore {
  return {
    async put(home, { sha256, bytes, type }, body) {
      await using source = await spool(body, { sha256, bytes });
      const contentType = contentTypes[type];
      await writeOnce(connection, { key: blobKey(home, sha256), bytes, sha256, contentType, body: source.body });
    },
    async get(home, sha256) {
      const { bytes, chunks } = await openBlob(connection, home, sha256);
      const whole = Buffer.allocUnsafe(bytes);
      let seen = 0;
      for await (const chunk of chunks) {
        whole.set(chunk, seen);
        seen += chunk.length;
      }
      return whole;
    },
    placeOf: (home, sha256) => ({ bucket: connection.bucket, key: blobKey(home, sha256) }),
    stream: async (home, sha256) => (await openBlob(connection, home, sha256)).chunks,
  };
}

const contentTypes = {
  bytes: "application/octet-stream",
  text: "text/plain; charset=utf-8",
  json: "application/json",
};

/**
 * Returns the key of a blob. The key begins with the client, and then names the root execution. So the erasure of a
 * client or of an execution deletes all keys with one prefix.
 */
export function blobKey({ client, root }: BlobHome, sha256: string): string {
  return `blobs/${client}/${root}/${sha256}`;
}

async function openBlob(connection: BucketConnection, home: BlobHome, sha256: string): Promise<ObjectBody> {
  const found = await readObject(connection, blobKey(home, sha256));
  if (!found) throw new BlobMissing(`blob ${sha256} of execution ${home.root} was erased`);
  return { bytes: found.bytes, chunks: checkChunks(found.chunks, { sha256, bytes: found.bytes }) };
}

export function createBlobLinks(bucket: BucketConnection): BlobLinks {
  return {
    async sign(home, sha256, seconds, type) {
      const key = blobKey(home, sha256);
      const shown = type === undefined ? {} : { ResponseContentType: type, ResponseContentDisposition: "inline" };
      return (await headObject(bucket, key)) && signGet(bucket, key, seconds, shown);
    },
  };
}

/**
 * Copies an object to the key of its blob, inside S3. Reads its bytes only if the object has no stored checksum.
 * Returns undefined if there is no object. Throws `StoreUnavailable` if the object changes during the copy.
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
    Bucket: bucket,
    Key: blobKey(home, sha256),
    CopySource: `${bucket}/${key}`,
    CopySourceIfMatch: etag,
    MetadataDirective: "REPLACE",
    ContentType: "application/octet-stream",
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
    return await reportOutage("S3", ask);
  } catch (cause) {
    if (!(cause instanceof Error) || cause.name !== "PreconditionFailed") throw cause;
    throw new StoreUnavailable(`other bytes came for ${key} while it was copied - try again`, { cause });
  }
}
