import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { offerService } from "@nova/aws";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { forSigning, useOwnServices } from "../../../packages/aws/src/clients/own-services.ts";
import type { AwsServer } from "../../../packages/aws-local/src/aws-http/listen.ts";
import { openS3, type S3Options } from "../../../packages/aws-local/src/s3/server.ts";

const Bucket = "nova";
const key = { accessKeyId: "mine", secretAccessKey: "secret" };
const sha256 = (body: Uint8Array | string) => createHash("sha256").update(body).digest("base64");

let server: AwsServer;
let faults: S3Options["faults"];
let created: string[];
let http: S3Client;
let own: S3Client;
/** The operations that the server performed without HTTP. */
let performed: string[];
let stop: () => void;

beforeAll(async () => {
  server = await openS3({
    dataDir: null,
    ...key,
    faults: (request) => faults?.(request),
    onCreated: (object) => created.push(object.key),
  });
  const config: S3ClientConfig = {
    endpoint: server.url,
    region: "us-east-1",
    credentials: key,
    forcePathStyle: true,
    maxAttempts: 2,
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  };
  [http, own] = [new S3Client(config), new S3Client(config)];
  useOwnServices(own);
  stop = offerService(server.url, {
    ...server,
    perform(operation, input) {
      performed.push(operation);
      return server.perform(operation, input);
    },
  });
  await http.send(new CreateBucketCommand({ Bucket }));
});

beforeEach(() => {
  [faults, created, performed] = [undefined, [], []];
});

afterAll(async () => {
  stop();
  http.destroy();
  own.destroy();
  await server.close();
});

// biome-ignore lint/suspicious/noExplicitAny: commands have many types
type AnyCommand = any;

/**
 * Sends a command with this client. Returns the output or the error, without the values that differ between any two
 * requests.
 */
async function sent(client: S3Client, command: AnyCommand): Promise<object> {
  try {
    const {
      $metadata,
      LastModified,
      Contents,
      Body,
      CopyObjectResult: _,
      ...output
    } = (await client.send(command)) as AnyCommand;
    return {
      ...output,
      ...(LastModified && { LastModified }),
      ...(Contents && { Contents: Contents.map(({ LastModified: _, ...one }: AnyCommand) => one) }),
      ...(Body && { sha256: sha256(await Body.transformToByteArray()) }),
    };
  } catch (error) {
    const { name, message, $metadata } = error as AnyCommand;
    return { name, message: message.replace("SHA-256", "SHA256"), status: $metadata?.httpStatusCode };
  }
}

const small = Buffer.from("ä😀 small");
const large = randomBytes(700_000);
const put = (Key: string, Body: AnyCommand, more: object = {}) => new PutObjectCommand({ Bucket, Key, Body, ...more });

it.each<[string, () => AnyCommand]>([
  ["a put of bytes", () => put("a", small, { ContentLength: small.length, ContentType: "text/plain" })],
  ["a put of a text", () => put("text", "ä😀", { ContentType: "text/plain" })],
  ["a put of an empty object", () => put("empty", Buffer.alloc(0), { ContentType: "text/plain" })],
  ["a put with a checksum", () => put("b", large, { ChecksumSHA256: sha256(large), ContentType: "x/y" })],
  ["a put with a wrong checksum", () => put("c", small, { ChecksumSHA256: sha256("other") })],
  ["a put with an invalid checksum", () => put("c", small, { ChecksumSHA256: "short" })],
  ["a put of an object that exists", () => put("a", small, { IfNoneMatch: "*" })],
  ["a put under a condition that S3 does not support", () => put("a", small, { IfNoneMatch: '"etag"' })],
  [
    "a put into a bucket that does not exist",
    () => new PutObjectCommand({ Bucket: "none-here", Key: "a", Body: small }),
  ],
  ["a get of an object", () => new GetObjectCommand({ Bucket, Key: "a" })],
  ["a get of an empty object", () => new GetObjectCommand({ Bucket, Key: "empty" })],
  ["a get of a large object", () => new GetObjectCommand({ Bucket, Key: "b" })],
  ["a get of a range", () => new GetObjectCommand({ Bucket, Key: "b", Range: "bytes=100-500000" })],
  ["a get of the last bytes", () => new GetObjectCommand({ Bucket, Key: "b", Range: "bytes=-7" })],
  ["a get of a range after the end", () => new GetObjectCommand({ Bucket, Key: "a", Range: "bytes=900-" })],
  ["a get of a missing object", () => new GetObjectCommand({ Bucket, Key: "none <&>" })],
  ["a get with the condition of another ETag", () => new GetObjectCommand({ Bucket, Key: "a", IfMatch: '"other"' })],
  ["a head of an object", () => new HeadObjectCommand({ Bucket, Key: "b", ChecksumMode: "ENABLED" })],
  ["a head of a missing object", () => new HeadObjectCommand({ Bucket, Key: "none" })],
  ["a list of objects", () => new ListObjectsV2Command({ Bucket })],
  ["a list of one page of objects", () => new ListObjectsV2Command({ Bucket, MaxKeys: 1, StartAfter: "a" })],
  ["a list with a prefix that no object has", () => new ListObjectsV2Command({ Bucket, Prefix: "none" })],
  ["a removal of too few keys", () => new DeleteObjectsCommand({ Bucket, Delete: { Objects: [] } })],
])("the local S3 responds to %s by its own process exactly as over HTTP", async (_what, command) => {
  const overHttp = await sent(http, command());
  const direct = await sent(own, command());
  expect(performed).toHaveLength(1);
  expect(direct).toEqual(overHttp);
});

it("the local S3 stores a stream from its own process, and reports the new object", async () => {
  const body = Readable.from([large.subarray(0, 300_000), large.subarray(300_000)]);
  await own.send(put("streamed", body, { ContentLength: large.length, ChecksumSHA256: sha256(large) }));
  expect({ performed, created }).toEqual({ performed: ["PutObject"], created: ["streamed"] });
  expect(await sent(http, new GetObjectCommand({ Bucket, Key: "streamed" }))).toMatchObject({ sha256: sha256(large) });
});

it("the local S3 stores nothing if a stream from its own process breaks", async () => {
  const body = Readable.from(
    (async function* () {
      yield large.subarray(0, 1000);
      throw new Error("broken");
    })(),
  );
  const error = await own.send(put("broken", body, { ContentLength: large.length })).catch((thrown) => thrown);
  expect({ ...error, message: error.message }).toEqual({ message: "broken" });
  expect(await sent(http, new HeadObjectCommand({ Bucket, Key: "broken" }))).toMatchObject({ status: 404 });
});

it("the local S3 removes the objects that a call without HTTP names", async () => {
  for (const name of ["gone/1", "gone/2"]) await own.send(put(name, small));
  const Objects = [{ Key: "gone/1" }, { Key: "gone/2" }];
  await own.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
  expect(await sent(http, new ListObjectsV2Command({ Bucket, Prefix: "gone/" }))).toMatchObject({ KeyCount: 0 });
});

it("a call of the local S3 is sent over HTTP if its operation or one of its fields is not supported without HTTP", async () => {
  await own.send(put("source", small));
  performed = [];
  await own.send(new CopyObjectCommand({ Bucket, Key: "copy", CopySource: `${Bucket}/source` }));
  await own.send(put("with-metadata", small, { Metadata: { colour: "red" } }));
  expect(performed).toEqual([]);
  expect(await http.send(new HeadObjectCommand({ Bucket, Key: "with-metadata" }))).toMatchObject({
    Metadata: { colour: "red" },
  });
});

it.each(["throttle", "error"] as const)(
  "a call of the local S3 without HTTP is retried by the AWS SDK after the fault %s",
  async (fault) => {
    const given: (typeof fault | undefined)[] = [fault];
    faults = () => given.shift();
    await own.send(put("after-a-fault", small));
    expect(given).toEqual([]);
  },
);

it("a signed URL of the local S3 works over HTTP, and its creation performs no operation", async () => {
  await own.send(put("signed", small));
  performed = [];
  const address = await getSignedUrl(forSigning(own), new GetObjectCommand({ Bucket, Key: "signed" }));
  expect(performed).toEqual([]);
  expect(await (await fetch(address)).text()).toBe(small.toString());
  await own.send(new HeadObjectCommand({ Bucket, Key: "signed" }));
  expect(performed).toEqual(["HeadObject"]);
});

it("the body of an object that was read without HTTP can be read only once, as the AWS SDK requires", async () => {
  await own.send(put("once", small));
  const { Body } = await own.send(new GetObjectCommand({ Bucket, Key: "once" }));
  expect(await Body?.transformToString()).toBe(small.toString());
  await expect(Body?.transformToString()).rejects.toThrow("already been transformed");
});

it("the local S3 closes only when all running calls without HTTP have ended, and refuses later calls", async () => {
  const other = await openS3({ dataDir: null, ...key });
  const client = new S3Client({ endpoint: other.url, region: "us-east-1", credentials: key, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket }));
  client.destroy();
  let [finish, isReading] = [() => {}, false];
  const body = (async function* () {
    yield small;
    isReading = true;
    await new Promise<void>((resolve) => (finish = resolve));
  })();
  const events: string[] = [];
  const putting = other.perform("PutObject", { Bucket, Key: "slow", Body: body }).then(
    () => events.push("put succeeded"),
    (error) => events.push(error.message),
  );
  await vi.waitFor(() => expect(isReading).toBe(true));
  const closing = other.close().then(() => events.push("closed"));
  await expect(other.perform("HeadObject", { Bucket, Key: "a" })).rejects.toMatchObject({ status: 503 });
  setTimeout(() => finish(), 50);
  await Promise.all([putting, closing]);
  expect(events).toEqual(["put succeeded", "closed"]);
});
