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
import { isOutage, reaching, unless } from "../clients/outage.ts";
import { conflict, patiently } from "../clients/retries.ts";

export interface BucketConnection {
  client: S3Client;
  bucket: string;
}

export interface ObjectHead {
  bytes: number;
  etag: string;
  /** In hex; absent where the object was written without it. */
  sha256?: string;
}

/** What is known of an object without reading it; undefined where there is none. */
export async function headObject({ client, bucket }: BucketConnection, key: string): Promise<ObjectHead | undefined> {
  const head = new HeadObjectCommand({ Bucket: bucket, Key: key, ChecksumMode: "ENABLED" });
  const found = await unless(["NotFound", "NoSuchKey"], undefined, () => reaching("S3", () => client.send(head)));
  if (!found) return undefined;
  const { ContentLength: bytes = 0, ETag: etag = "", ChecksumSHA256: sum } = found;
  return { bytes, etag, ...(sum !== undefined && { sha256: Buffer.from(sum, "base64").toString("hex") }) };
}

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
  const get = new GetObjectCommand({ Bucket: bucket, Key: key, ...range });
  const answer = await unless(["NoSuchKey"], undefined, () => reaching("S3", () => client.send(get)));
  return answer && { bytes: answer.ContentLength ?? 0, body: answer.Body as Readable };
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

/** An object that is text as a whole; undefined where there is none. */
export async function readText(connection: BucketConnection, key: string): Promise<string | undefined> {
  const found = await readObject(connection, key);
  return found && Buffer.concat(await Array.fromAsync(found.chunks)).toString("utf8");
}

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
  await unless(["PreconditionFailed"], undefined, () => reaching("S3", put));
}

/** Puts JSON text, likewise. */
export function writeJson(connection: BucketConnection, key: string, text: string): Promise<void> {
  const body = Buffer.from(text);
  const sha256 = sha256Of(body);
  return writeOnce(connection, { key, bytes: body.length, sha256, contentType: "application/json", body });
}

/** Deletes every object whose key begins so, a thousand in one request. */
export async function removePrefix({ client, bucket }: BucketConnection, prefix: string): Promise<void> {
  for (;;) {
    const list = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix });
    const { Contents = [], IsTruncated } = await reaching("S3", () => client.send(list));
    if (Contents.length === 0) return;
    const Objects = Contents.map(({ Key }) => ({ Key }));
    const removal = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } });
    const { Errors: [failed] = [] } = await reaching("S3", () => client.send(removal));
    if (failed) throw new StoreUnavailable(`S3 did not delete ${failed.Key} (${failed.Code}) - try again`);
    if (!IsTruncated) return;
  }
}
