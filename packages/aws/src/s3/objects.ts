import { createHash, randomUUID } from "node:crypto";
import { open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import * as sdk from "@aws-sdk/client-s3";
import { BlobMismatch, StoreUnavailable, sha256 as sha256Of } from "@nova/engine";
import { conflict, isOutage, orOnError, reportOutage, retryStream } from "../clients/outage.ts";
import { forSigning } from "../clients/own-services.ts";

export interface BucketConnection {
  client: sdk.S3Client;
  bucket: string;
}

export interface ObjectHead {
  bytes: number;
  etag: string;
  /** SHA-256 in hex; absent if the object was written without a checksum. */
  sha256?: string;
}

/** Reads the metadata of an object; undefined if there is no object. */
export async function headObject({ client, bucket }: BucketConnection, key: string): Promise<ObjectHead | undefined> {
  const head = new sdk.HeadObjectCommand({ Bucket: bucket, Key: key, ChecksumMode: "ENABLED" });
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

/** After a broken connection, the reading of one body is resumed at most this many times. */
const maxResumes = 5;

/**
 * Opens an object; undefined if there is none. If the connection breaks, the reading of the body continues at the next
 * missing byte.
 */
export async function readObject(connection: BucketConnection, key: string): Promise<ObjectBody | undefined> {
  const first = await openFrom(connection, key, 0);
  return first && { bytes: first.bytes, chunks: resumeBody(connection, key, first) };
}

interface OpenObject {
  bytes: number;
  body: Readable;
}

async function openFrom({ client, bucket }: BucketConnection, key: string, start: number) {
  const range = start > 0 ? { Range: `bytes=${start}-` } : {};
  const get = new sdk.GetObjectCommand({ Bucket: bucket, Key: key, ...range });
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
  /** SHA-256 of the body in hex. S3 refuses a body with another hash, so a damaged body never appears under the key. */
  sha256: string;
  contentType: string;
  /** Bytes, or a function that creates a new stream for each attempt. */
  body: Uint8Array | (() => Readable);
}

/**
 * Writes an object unless the key exists. An existing object has the same contents, because callers use a key for one
 * content only.
 */
export async function writeOnce({ client, bucket }: BucketConnection, object: NewObject): Promise<void> {
  const send = (body: Uint8Array | Readable) =>
    client.send(
      new sdk.PutObjectCommand({
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

/** Returns a URL from which an object can be fetched, for `seconds`. `shown` sets headers of S3's answer. */
export async function signGet({ client, bucket }: BucketConnection, key: string, seconds: number, shown: object = {}) {
  const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner");
  const get = new sdk.GetObjectCommand({ Bucket: bucket, Key: key, ...shown });
  return getSignedUrl(forSigning(client), get, { expiresIn: seconds });
}

/** Deletes every object under a prefix, a thousand per request. */
export async function removePrefix({ client, bucket }: BucketConnection, prefix: string): Promise<void> {
  for (;;) {
    const list = new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix });
    const { Contents = [], IsTruncated } = await reportOutage("S3", () => client.send(list));
    if (Contents.length === 0) return;
    const Objects = Contents.map(({ Key }) => ({ Key }));
    const removal = new sdk.DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } });
    const { Errors: [failed] = [] } = await reportOutage("S3", () => client.send(removal));
    if (failed) throw new StoreUnavailable(`S3 did not delete ${failed.Key} (${failed.Code}) - try again`);
    if (!IsTruncated) return;
  }
}

/** A body that can be read several times. */
export interface Spool extends AsyncDisposable {
  body: Uint8Array | (() => Readable);
}

/** The length of a body, and its hash. */
interface Measure {
  sha256: string;
  bytes: number;
}

const inMemoryBytes = 4 * 1024 * 1024;

/**
 * Buffers a body and checks its length and SHA-256. A stream can be read only once, but a request to S3 may need
 * several attempts. Bodies over 4 MiB go to a temporary file, so that they do not fill the heap.
 */
export async function spool(body: Uint8Array | AsyncIterable<Uint8Array>, expected: Measure): Promise<Spool> {
  const checked = checkChunks(body instanceof Uint8Array ? [body] : body, expected);
  if (!(body instanceof Uint8Array) && expected.bytes > inMemoryBytes) return toFile(checked);
  const chunks = await Array.fromAsync(checked);
  const whole = chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
  return { body: whole, [Symbol.asyncDispose]: async () => undefined };
}

/** Buffers a body of unknown length in a temporary file, and measures it. */
export async function spoolUnmeasured(body: AsyncIterable<Uint8Array>): Promise<Spool & Measure> {
  const hash = createHash("sha256");
  let bytes = 0;
  async function* measured() {
    for await (const chunk of body) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  }
  const file = await toFile(measured());
  return { ...file, bytes, sha256: hash.digest("hex") };
}

/**
 * Buffers a body in a temporary file. The file is unlinked while it is in use, so that even a killed process leaves no
 * file.
 */
async function toFile(body: AsyncIterable<Uint8Array>): Promise<Spool> {
  const path = join(tmpdir(), `nova-${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  try {
    await unlink(path);
    for await (const chunk of body) await file.appendFile(chunk);
  } catch (error) {
    await file.close();
    throw error;
  }
  return {
    body: () => file.createReadStream({ start: 0, autoClose: false, highWaterMark: 256 * 1024 }),
    [Symbol.asyncDispose]: () => file.close(),
  };
}

/**
 * Passes chunks through. Throws `BlobMismatch` as soon as their total length is too large, and at the end if length or
 * hash is wrong.
 */
export async function* checkChunks(
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { sha256, bytes }: Measure,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let seen = 0;
  for await (const chunk of body) {
    seen += chunk.length;
    if (seen > bytes) throw new BlobMismatch(`blob ${sha256} has more than the ${bytes} bytes announced`);
    hash.update(chunk);
    yield chunk;
  }
  if (seen < bytes) throw new BlobMismatch(`blob ${sha256} ended after ${seen} of ${bytes} bytes - send it again`);
  const actual = hash.digest("hex");
  if (actual !== sha256) throw new BlobMismatch(`blob ${sha256} has other contents (${actual}) - send it again`);
}
