import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { s3Client } from "@nova/aws";
import { BlobMissing, type BlobRef, type BlobStore, StoreUnavailable } from "@nova/engine";
import { beforeAll, describe, expect, test } from "vitest";
import { createBlobStore, placeObject } from "../../../packages/aws/src/s3/blob-store.ts";
import { failing, useBucket } from "../support/endpoints.ts";

const bucket = useBucket();
let blobs: BlobStore;
beforeAll(() => {
  blobs = createBlobStore(bucket);
});

const home = { client: "acme", root: "exec_01" };
const refOf = (body: Uint8Array): BlobRef => ({
  sha256: createHash("sha256").update(body).digest("hex"),
  bytes: body.length,
  type: "bytes",
});

async function* inPieces(body: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(body));
}

/** Sizes below and above 4 MiB, because the store buffers a longer stream in a file. */
const sizes = [0, 1, 100_000, 4 * 1024 * 1024, 4 * 1024 * 1024 + 1, 9_000_001];

test.each(sizes)("a blob of %i bytes is read back unchanged, as bytes and as a stream", async (size) => {
  const body = randomBytes(size);
  const ref = refOf(body);
  await blobs.put(home, ref, inPieces(body));
  expect(body.equals(await blobs.get(home, ref.sha256))).toBe(true);
  expect((await collect(await blobs.stream(home, ref.sha256))).equals(body)).toBe(true);
});

test("a blob is stored with its content type, under a key that names its client and its outermost run", async () => {
  const ref: BlobRef = { ...refOf(Buffer.from("{}")), type: "json" };
  await blobs.put(home, ref, Buffer.from("{}"));
  const key = { Bucket: bucket.bucket, Key: `blobs/acme/exec_01/${ref.sha256}` };
  expect((await bucket.client.send(new GetObjectCommand(key))).ContentType).toBe("application/json");
});

test("a second put of a blob succeeds and keeps the first S3 object", async () => {
  const body = randomBytes(1000);
  await Promise.all([1, 2, 3].map(() => blobs.put(home, refOf(body), body)));
  await blobs.put(home, refOf(body), inPieces(body));
  expect(body.equals(await blobs.get(home, refOf(body).sha256))).toBe(true);
});

describe.each([
  ["small", 1000],
  ["large", 5_000_000],
])("a blob with a %s body that differs from its reference", (_, size) => {
  const body = randomBytes(size);
  test.each<[string, BlobRef, RegExp]>([
    ["too long", { ...refOf(body), bytes: size - 1 }, /more than/],
    ["too short", { ...refOf(body), bytes: size + 1 }, /ended after/],
    ["of another hash", { ...refOf(body), sha256: "0".repeat(64) }, /other contents/],
  ])("is refused and cannot be read if the body is %s", async (_, ref, message) => {
    await expect(blobs.put(home, ref, inPieces(body))).rejects.toThrow(message);
    await expect(blobs.put(home, ref, body)).rejects.toThrow(message);
    await expect(blobs.get(home, ref.sha256)).rejects.toThrow(BlobMissing);
  });
});

test("the read of an erased blob throws an error that says that it was erased", async () => {
  await expect(blobs.get(home, "f".repeat(64))).rejects.toThrow(BlobMissing);
  await expect(blobs.stream(home, "f".repeat(64))).rejects.toThrow(/was erased/);
});

test("a put of a blob deletes its temporary file after a success and after a failure", async () => {
  const leftovers = async () => (await readdir(tmpdir())).filter((name) => /^nova-[0-9a-f]{8}-/.test(name));
  const before = await leftovers();
  const body = randomBytes(5_000_000);
  await blobs.put(home, refOf(body), inPieces(body));
  const broken = async function* () {
    yield body.subarray(0, 1000);
    throw new RangeError("the sandbox died");
  };
  await expect(blobs.put(home, refOf(body), broken())).rejects.toThrow("the sandbox died");
  expect(await leftovers()).toEqual(before);
});

describe("an outage of S3", () => {
  test.each([
    ["throttle", 1000],
    ["error", 1000],
    ["throttle", 5_000_000],
    ["error", 5_000_000],
  ] as const)("does not lose a streamed body if it is short (%s) and the body has %i bytes", async (fault, size) => {
    const body = randomBytes(size);
    bucket.faults = failing(3, fault);
    await blobs.put(home, refOf(body), inPieces(body));
    bucket.faults = failing(2, fault);
    expect(body.equals(await blobs.get(home, refOf(body).sha256))).toBe(true);
  });

  test("causes the error StoreUnavailable if it lasts", async () => {
    bucket.faults = () => "error";
    const client = new S3Client({ maxAttempts: 1, forcePathStyle: true });
    const hasty = createBlobStore({ ...bucket, client });
    await expect(hasty.get(home, "a".repeat(64))).rejects.toThrow(StoreUnavailable);
    client.destroy();
  });

  test("makes the reader of a blob continue at the byte at which the connection broke", async () => {
    const body = randomBytes(300_000);
    const ranges: (string | undefined)[] = [];
    const broken = createServer((request, response) => {
      ranges.push(request.headers.range);
      const start = Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
      response.writeHead(start ? 206 : 200, { "content-length": body.length - start });
      response.write(body.subarray(start, start + 100_000), () => {
        if (start + 100_000 < body.length) response.destroy();
        else response.end();
      });
    });
    await new Promise<void>((resolve) => broken.listen(0, "127.0.0.1", resolve));
    const endpoint = `http://127.0.0.1:${(broken.address() as AddressInfo).port}`;
    const client = new S3Client({ endpoint, forcePathStyle: true });
    const found = await createBlobStore({ ...bucket, client }).get(home, refOf(body).sha256);
    expect(body.equals(found)).toBe(true);
    expect(ranges.length).toBeGreaterThanOrEqual(3);
    expect(ranges[0]).toBeUndefined();
    client.destroy();
    await new Promise((resolve) => broken.close(resolve));
  });
});

test("a damaged blob is detected when it is read", async () => {
  const body = Buffer.from("what was written");
  const ref = refOf(body);
  const liar = createServer((_, response) => response.end("what was WRITTEN"));
  await new Promise<void>((resolve) => liar.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
  const client = new S3Client({ endpoint, forcePathStyle: true });
  await expect(createBlobStore({ ...bucket, client }).get(home, ref.sha256)).rejects.toThrow(/other contents/);
  client.destroy();
  await new Promise((resolve) => liar.close(resolve));
});

test("writing and reading a blob of 50 MB does not fill the heap", { tags: ["deep"] }, async () => {
  const piece = randomBytes(64 * 1024);
  const pieces = 800;
  const hash = createHash("sha256");
  for (let index = 0; index < pieces; index++) hash.update(piece);
  const ref: BlobRef = { sha256: hash.digest("hex"), bytes: piece.length * pieces, type: "bytes" };
  const before = process.memoryUsage().heapUsed;
  let most = 0;
  const watched = async function* (body: AsyncIterable<Uint8Array>) {
    for await (const chunk of body) {
      most = Math.max(most, process.memoryUsage().heapUsed - before);
      yield chunk;
    }
  };
  const source = (async function* () {
    for (let index = 0; index < pieces; index++) yield piece;
  })();
  await blobs.put(home, ref, watched(source));
  for await (const _ of watched(await blobs.stream(home, ref.sha256)));
  expect(most).toBeLessThan(40 * 1024 * 1024);
  const { KeyCount } = await bucket.client.send(
    new ListObjectsV2Command({ Bucket: bucket.bucket, Prefix: `blobs/acme/exec_01/${ref.sha256}` }),
  );
  expect(KeyCount).toBe(1);
});

test("an S3 object that changes while it is copied to a blob causes the error StoreUnavailable", async () => {
  const upload = { Bucket: bucket.bucket, Key: "uploads/1" };
  await bucket.client.send(new PutObjectCommand({ ...upload, Body: "first" }));
  const client = s3Client(true);
  client.middlewareStack.add((next, { commandName }) => async (args) => {
    if (commandName === "CopyObjectCommand")
      await bucket.client.send(new PutObjectCommand({ ...upload, Body: "second" }));
    return next(args);
  });
  const placing = placeObject({ ...bucket, client }, upload.Key, home);
  await expect(placing).rejects.toMatchObject({
    name: "StoreUnavailable",
    message: expect.stringContaining("try again"),
  });
  expect(await placeObject(bucket, upload.Key, home)).toMatchObject({ bytes: "second".length });
});
