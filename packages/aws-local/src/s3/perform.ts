import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import type { OnCreated } from "./call.ts";
import { S3Error } from "./errors.ts";
import { rangeOf } from "./operations/get-object.ts";
import { quoteEtag, unquoted } from "./operations/object-headers.ts";
import { isFirst } from "./operations/put-object.ts";
import { listKeys } from "./store/keys.ts";
import { type OpenObject, preconditionFailed } from "./store/object-file.ts";
import type { ObjectStore } from "./store/object-store.ts";

/** The state that operations work on. */
interface Service {
  store: ObjectStore;
  onCreated?: OnCreated | undefined;
}

/** The fields of an input of the SDK. */
// biome-ignore lint/suspicious/noExplicitAny: the SDK has checked the types
type Input = Record<string, any>;

interface DirectOperation {
  /** The fields that the operation understands. An input with another field goes over HTTP. */
  fields: readonly string[];
  perform(service: Service, input: Input): Promise<object>;
}

/** The operations that code of this process can perform without HTTP. */
const operations: Record<string, DirectOperation> = {
  PutObject: {
    fields: ["Bucket", "Key", "Body", "ContentLength", "ContentType", "ChecksumSHA256", "IfNoneMatch"],
    perform: putObject,
  },
  GetObject: { fields: ["Bucket", "Key", "Range", "IfMatch", "ChecksumMode"], perform: getObject },
  HeadObject: { fields: ["Bucket", "Key", "ChecksumMode"], perform: headObject },
  ListObjectsV2: { fields: ["Bucket", "Prefix", "MaxKeys", "StartAfter", "ContinuationToken"], perform: listObjects },
  DeleteObjects: { fields: ["Bucket", "Delete"], perform: deleteObjects },
};

/** Returns whether `performDirectly` serves an operation with this input. All other requests need HTTP. */
export function servesDirectly(operation: string, input: Input): boolean {
  const fields = Object.hasOwn(operations, operation) ? operations[operation]?.fields : undefined;
  const given = Object.keys(input).filter((name) => input[name] !== undefined);
  return fields !== undefined && given.every((name) => fields.includes(name));
}

/** Performs an operation on the objects of the SDK. Throws `S3Error`. */
export function performDirectly(service: Service, operation: string, input: Input): Promise<object> {
  return (operations[operation] as DirectOperation).perform(service, input);
}

async function putObject({ store, onCreated }: Service, input: Input): Promise<object> {
  const { Bucket, Key, Body, ContentLength, ContentType = "application/octet-stream", ChecksumSHA256 } = input;
  const info = await store.put(Bucket, Key, isFirst({ ifNoneMatch: input.IfNoneMatch ?? "" }), async (write) => {
    const [md5, sha256] = [createHash("md5"), createHash("sha256")];
    let bytes = 0;
    for await (const chunk of chunksOf(Body)) {
      bytes += chunk.length;
      md5.update(chunk);
      if (ChecksumSHA256) sha256.update(chunk);
      await write(chunk);
    }
    if (ContentLength !== undefined && ContentLength !== bytes)
      throw new S3Error("IncompleteBody", "You did not provide the number of bytes specified by ContentLength.");
    if (ChecksumSHA256) checkSha256(ChecksumSHA256, sha256.digest("base64"));
    const checksums = ChecksumSHA256 ? { sha256: ChecksumSHA256 } : {};
    return { bytes, etag: md5.digest("hex"), headers: { "content-type": ContentType }, checksums };
  });
  onCreated?.({ bucket: Bucket, key: Key, bytes: info.bytes });
  return { ETag: quoteEtag(info.etag), ...(ChecksumSHA256 && { ChecksumSHA256, ChecksumType: "FULL_OBJECT" }) };
}

function checkSha256(given: string, actual: string): void {
  if (given.length !== actual.length)
    throw new S3Error("InvalidRequest", "Value for x-amz-checksum-sha256 header is invalid.");
  if (given !== actual)
    throw new S3Error("BadDigest", "The SHA256 you specified did not match the calculated checksum.");
}

/**
 * Thrown if the caller's own stream fails while S3 reads it. The caller gets the error of the stream (`cause`)
 * unchanged.
 */
export class BodyFailed extends Error {
  override name = "BodyFailed";
}

async function* chunksOf(body: string | Uint8Array | AsyncIterable<Uint8Array> = ""): AsyncGenerator<Buffer> {
  if (typeof body === "string" || body instanceof Uint8Array) {
    yield Buffer.from(body);
    return;
  }
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await chunks.next().catch((cause: unknown) => {
        throw new BodyFailed("the body of a put failed", { cause });
      });
      if (done) return;
      yield Buffer.from(value);
    }
  } finally {
    await chunks.return?.().catch(() => undefined);
  }
}

/**
 * The largest part of an object that is read into memory as a whole, in bytes. A larger part is read as a stream, and
 * the file stays open until the stream ends.
 */
const maxAtOnce = 256 * 1024;

async function getObject({ store }: Service, { Bucket, Key, Range, IfMatch, ChecksumMode }: Input): Promise<object> {
  const object = await store.get(Bucket, Key);
  try {
    const { info } = object;
    if (IfMatch && IfMatch !== "*" && unquoted(IfMatch) !== info.etag) throw preconditionFailed();
    const range = rangeOf(Range ?? "", info.bytes);
    const { start, end } = range ?? { start: 0, end: info.bytes - 1 };
    const bytes = end - start + 1;
    const facts = {
      ...factsOf(object, ChecksumMode === "ENABLED" && !range),
      ContentLength: bytes,
      ...(range && { ContentRange: `bytes ${start}-${end}/${info.bytes}` }),
    };
    if (bytes > maxAtOnce) {
      const stream = object.file.createReadStream({ start, end, highWaterMark: maxAtOnce });
      return { ...facts, Body: asSdkStream(stream) };
    }
    const whole = Buffer.alloc(bytes);
    if (bytes > 0) await object.file.read(whole, 0, bytes, start);
    await object.file.close();
    return { ...facts, Body: asSdkStream(Readable.from(bytes > 0 ? [whole] : [])) };
  } catch (error) {
    await object.file.close();
    throw error;
  }
}

/** Adds the methods that bodies of the SDK have. As in the SDK, a body can be read only once. */
function asSdkStream(stream: Readable): Readable {
  let isRead = false;
  const once = () => {
    if (isRead) throw new Error("The stream has already been transformed.");
    isRead = true;
    return stream;
  };
  return Object.assign(stream, {
    transformToByteArray: async () => buffer(once()),
    transformToString: async (encoding?: BufferEncoding) =>
      encoding === undefined ? text(once()) : (await buffer(once())).toString(encoding),
    transformToWebStream: () => Readable.toWeb(once()),
  });
}

async function headObject({ store }: Service, { Bucket, Key, ChecksumMode }: Input): Promise<object> {
  await using object = await store.get(Bucket, Key);
  return { ...factsOf(object, ChecksumMode === "ENABLED"), ContentLength: object.info.bytes };
}

/** The SDK's names of the headers that a put stores and a get returns. */
const fieldOf: Record<string, string> = {
  "cache-control": "CacheControl",
  "content-disposition": "ContentDisposition",
  "content-encoding": "ContentEncoding",
  "content-language": "ContentLanguage",
  "content-type": "ContentType",
  expires: "ExpiresString",
};

function factsOf({ info }: OpenObject, hasChecksums: boolean): object {
  const headers = Object.entries({ "content-type": "binary/octet-stream", ...info.headers });
  const checksums = Object.entries(hasChecksums ? info.checksums : {});
  const metadata = headers.filter(([name]) => name.startsWith("x-amz-meta-"));
  return {
    AcceptRanges: "bytes",
    ETag: quoteEtag(info.etag),
    LastModified: new Date(Math.floor(info.modifiedMs / 1000) * 1000), // The header `Last-Modified` has whole seconds.
    Metadata: Object.fromEntries(metadata.map(([name, value]) => [name.slice("x-amz-meta-".length), value])),
    ...Object.fromEntries(headers.flatMap(([name, value]) => (fieldOf[name] ? [[fieldOf[name], value]] : []))),
    ...Object.fromEntries(checksums.map(([name, value]) => [`Checksum${name.toUpperCase()}`, value])),
    ...(checksums.length > 0 && { ChecksumType: "FULL_OBJECT" }),
  };
}

const maxKeys = 1000;

async function listObjects({ store }: Service, input: Input): Promise<object> {
  const { Bucket, Prefix = "", MaxKeys = maxKeys, StartAfter = "", ContinuationToken: token } = input;
  const after = token === undefined ? StartAfter : Buffer.from(token, "base64url").toString();
  const limit = Math.min(MaxKeys, maxKeys);
  const page = await listKeys(await store.bucketDir(Bucket), { prefix: Prefix, delimiter: "", after, limit });
  const found = await Promise.all(page.keys.map((key) => listed(store, Bucket, key)));
  const Contents = found.filter((one) => one !== undefined);
  return {
    Name: Bucket,
    Prefix,
    MaxKeys: limit,
    KeyCount: Contents.length,
    IsTruncated: page.next !== undefined,
    ...(StartAfter !== "" && { StartAfter }),
    ...(token !== undefined && { ContinuationToken: token }),
    ...(Contents.length > 0 && { Contents }),
    ...(page.next !== undefined && { NextContinuationToken: Buffer.from(page.next).toString("base64url") }),
  };
}

/** Returns an object in a list; undefined if the object was deleted since its key was read. */
async function listed(store: ObjectStore, bucket: string, Key: string): Promise<object | undefined> {
  await using object = await store.find(bucket, Key);
  if (!object) return undefined;
  const { modifiedMs, etag, bytes } = object.info;
  return { Key, LastModified: new Date(modifiedMs), ETag: quoteEtag(etag), Size: bytes, StorageClass: "STANDARD" };
}

async function deleteObjects({ store }: Service, { Bucket, Delete }: Input): Promise<object> {
  const keys: (string | undefined)[] = (Delete?.Objects ?? []).map(({ Key }: Input) => Key);
  if (keys.length === 0 || keys.length > maxKeys || keys.some((key) => !key))
    throw new S3Error("MalformedXML", "The XML you provided was not well-formed.");
  for (const key of keys) await store.delete(Bucket, key as string);
  return Delete.Quiet ? {} : { Deleted: keys.map((Key) => ({ Key })) };
}
