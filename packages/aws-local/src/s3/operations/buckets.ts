import type { XmlFields } from "../../aws-http/xml.ts";
import type { Call, Operation } from "../call.ts";
import { S3Error } from "../errors.ts";
import { listKeys } from "../store/keys.ts";
import { sendResult } from "../xml.ts";
import { quoteEtag } from "./object-headers.ts";

export const listBuckets: Operation = async ({ store, response }) => {
  const buckets = (await store.buckets()).map(({ name, createdMs }) => ({
    Name: name,
    CreationDate: new Date(createdMs).toISOString(),
  }));
  const owner = { ID: "local", DisplayName: "local" };
  sendResult(response, "ListAllMyBucketsResult", { Owner: owner, Buckets: { Bucket: buckets } });
};

export const createBucket: Operation = async ({ store, response, bucket }) => {
  await store.createBucket(bucket);
  response.writeHead(200, { location: `/${bucket}` }).end();
};

export const headBucket: Operation = async ({ store, response, bucket }) => {
  await store.bucketDir(bucket);
  response.writeHead(200).end();
};

const maxKeys = 1000;

export const listObjectsV2: Operation = async (call) => {
  const { store, response, bucket, query } = call;
  const [prefix, delimiter] = [query.get("prefix") ?? "", query.get("delimiter") ?? ""];
  const limit = limitOf(query.get("max-keys"));
  const page = await listKeys(await store.bucketDir(bucket), { prefix, delimiter, after: startOf(query), limit });
  const name = query.get("encoding-type") === "url" ? encodeURIComponent : (text: string) => text;
  const contents = await Promise.all(page.keys.map((key) => contentsOf(call, key, name)));
  const found = contents.filter((fields) => fields !== undefined);
  sendResult(response, "ListBucketResult", {
    Name: bucket,
    Prefix: name(prefix),
    Delimiter: delimiter ? name(delimiter) : undefined,
    MaxKeys: limit,
    EncodingType: query.get("encoding-type") ?? undefined,
    KeyCount: found.length + page.commonPrefixes.length,
    IsTruncated: page.next !== undefined,
    ContinuationToken: query.get("continuation-token") ?? undefined,
    NextContinuationToken: page.next === undefined ? undefined : Buffer.from(page.next).toString("base64url"),
    StartAfter: query.get("start-after") ?? undefined,
    Contents: found,
    CommonPrefixes: page.commonPrefixes.map((common) => ({ Prefix: name(common) })),
  });
};

function limitOf(text: string | null): number {
  const limit = Number(text ?? maxKeys);
  if (!Number.isInteger(limit) || limit < 0) throw new S3Error("InvalidArgument", "max-keys is not a whole number.");
  return Math.min(limit, maxKeys);
}

/** Returns the name after which a page starts: the decoded continuation token, or else `start-after`. */
function startOf(query: URLSearchParams): string {
  const token = query.get("continuation-token");
  return token === null ? (query.get("start-after") ?? "") : Buffer.from(token, "base64url").toString();
}

/** Returns the fields of an object in a list; undefined if the object was deleted since its key was read. */
async function contentsOf(
  { store, bucket }: Call,
  key: string,
  name: (text: string) => string,
): Promise<XmlFields | undefined> {
  await using object = await store.find(bucket, key);
  if (!object) return undefined;
  const { modifiedMs, etag, bytes } = object.info;
  return {
    Key: name(key),
    LastModified: new Date(modifiedMs).toISOString(),
    ETag: quoteEtag(etag),
    Size: bytes,
    StorageClass: "STANDARD",
  };
}
