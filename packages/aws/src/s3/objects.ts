import type { Readable } from "node:stream";
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { StoreUnavailable, sha256 as sha256Of } from "@nova/engine";
import { isOutage, orOnError, reportOutage } from "../clients/outage.ts";
import { conflict, retryStream } from "../clients/retries.ts";

export interface BucketConnection {
  client: S3Client;
  bucket: string;
}

export interface ObjectHead {
  bytes: number;
  etag: string;
  /** In hex; absent if the object was written without a checksum. */
  sha256?: string;
}

/** Reads the metadata of an object; undefined if there is no object. */
export async function headObject({ client, bucket }: BucketConnection, key: string): Promise<ObjectHead | undefined> {
  const head = new HeadObjectCommand({ Bucket: bucket, Key: key, ChecksumMode: "ENABLED" });
  const found = await orOnError(["NotFound", "NoSuchKey"], undefined, () =>
    reportOutage("S3", () => client.send(head)),
  );
  if (!found) return undefined;
  const { ContentLength: bytes = 0, ETag: etag = "", ChecksumSHA256: sum } = found;
  return { bytes, etag, ...(sum !== undefined && { sha256: Buffer.from(sum, "base64").toString("hex") }) };
}

export interface ObjectBody {
  bytes: number;
  chunks: AsyncIterable<Uint8Array>;
}

/** Limit of broken connections during one body. */
const maxResumes = 5;

/** Opens an object; undefined if there is none. Resumes a broken body at the byte where it broke. */
export async function readObject(connection: BucketConnection, key: string): Promise<ObjectBody | undefined> {
  const first = await openFrom(connection, key, 0);
  return first && { bytes: first.bytes, chunks: resumeBody(connection, key, first) };
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
  const get = new GetObjectCommand({ Bucket: bucket, Key: key, ...range });
  const answer = await orOnError(["NoSuchKey"], undefined, () => reportOutage("S3", () => client.send(get)));
  return answer && { bytes: answer.ContentLength ?? 0, body: answer.Body as Readable };
}

async function* resumeBody(connection: BucketConnection, key: string, first: OpenObject): AsyncGenerator<Uint8Array> {
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

/** Reads a text object; undefined if there is none. */
export async function readText(connection: BucketConnection, key: string): Promise<string | undefined> {
  const found = await readObject(connection, key);
  return found && Buffer.concat(await Array.fromAsync(found.chunks)).toString("utf8");
}

export interface NewObject {
  key: string;
  bytes: number;
  /** In hex. S3 refuses a body with another hash, so a damaged body never appears under the key. */
  sha256: string;
  contentType: string;
  /** Bytes, or a function that creates a new stream for each attempt. */
  body: Uint8Array | (() => Readable);
}

/**
 * Writes an object unless the key exists. An existing object already has the right contents, because the key implies
 * them.
 */
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
  const put = () => (body instanceof Uint8Array ? send(body) : retryStream(() => send(body()), [conflict]));
  await orOnError(["PreconditionFailed"], undefined, () => reportOutage("S3", put));
}

/** Writes JSON text unless the key exists. */
export function writeJson(connection: BucketConnection, key: string, text: string): Promise<void> {
  const body = Buffer.from(text);
  const sha256 = sha256Of(body);
  return writeOnce(connection, { key, bytes: body.length, sha256, contentType: "application/json", body });
}

/** Deletes every object under a prefix, a thousand per request. */
export async function removePrefix({ client, bucket }: BucketConnection, prefix: string): Promise<void> {
  for (;;) {
    const list = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix });
    const { Contents = [], IsTruncated } = await reportOutage("S3", () => client.send(list));
    if (Contents.length === 0) return;
    const Objects = Contents.map(({ Key }) => ({ Key }));
    const removal = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } });
    const { Errors: [failed] = [] } = await reportOutage("S3", () => client.send(removal));
    if (failed) throw new StoreUnavailable(`S3 did not delete ${failed.Key} (${failed.Code}) - try again`);
    if (!IsTruncated) return;
  }
}
