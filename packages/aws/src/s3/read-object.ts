import type { Readable } from "node:stream";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { StoreUnavailable } from "@nova/engine";
import { isOutage, reaching } from "../clients/outage.ts";
import type { BucketConnection } from "./connection.ts";

export interface ObjectBody {
  bytes: number;
  chunks: AsyncIterable<Uint8Array>;
}

/** A connection may break this often in the middle of one body. */
const maxResumes = 5;

/** Opens an object; undefined when there is none. A body that breaks off is resumed where it broke. */
export async function readObject(connection: BucketConnection, key: string): Promise<ObjectBody | undefined> {
  const first = await openFrom(connection, key, 0);
  return first && { bytes: first.bytes, chunks: resumed(connection, key, first) };
}

interface OpenObject {
  bytes: number;
  body: Readable;
}

async function openFrom(
  { client, bucket }: BucketConnection,
  key: string,
  start: number,
): Promise<OpenObject | undefined> {
  const range = start > 0 ? { Range: `bytes=${start}-` } : {};
  try {
    const answer = await reaching("S3", () =>
      client.send(new GetObjectCommand({ Bucket: bucket, Key: key, ...range })),
    );
    return { bytes: answer.ContentLength ?? 0, body: answer.Body as Readable };
  } catch (error) {
    if (error instanceof Error && error.name === "NoSuchKey") return undefined;
    throw error;
  }
}

async function* resumed(connection: BucketConnection, key: string, first: OpenObject): AsyncGenerator<Uint8Array> {
  let open: OpenObject | undefined = first;
  let seen = 0;
  for (let resumes = 0; open; resumes++) {
    try {
      for await (const chunk of open.body) {
        seen += chunk.length;
        yield chunk;
      }
      if (seen >= first.bytes) return;
    } catch (cause) {
      if (!isOutage(cause)) throw cause;
      if (resumes >= maxResumes) throw new StoreUnavailable(`S3 broke off ${key} too often - try again`, { cause });
    }
    open = await openFrom(connection, key, seen);
  }
  throw new StoreUnavailable(`S3 lost ${key} while it was read - start again`);
}
