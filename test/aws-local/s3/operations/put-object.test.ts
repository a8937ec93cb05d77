import { createHash, randomBytes } from "node:crypto";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { ChecksumAlgorithm, GetObjectCommand, HeadObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { describe, expect, test } from "vitest";
import { signedHeaders } from "../../support/signed.ts";
import { Bucket, key, raw, useS3 } from "../support/client.ts";

const s3 = useS3();
const bytesOf = async (Key: string) =>
  Buffer.from((await (await s3.client.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToByteArray()) ?? []);
const isThere = (Key: string) =>
  s3.client.send(new HeadObjectCommand({ Bucket, Key })).then(
    () => true,
    () => false,
  );
const sha256 = (body: Buffer) => createHash("sha256").update(body).digest("base64");

function streamOf(body: Buffer): Readable {
  const pieces = Array.from({ length: Math.ceil(body.length / 100_000) }, (_, index) =>
    body.subarray(index * 100_000, (index + 1) * 100_000),
  );
  return Readable.from(pieces);
}

test("PutObject stores exactly the 5,000,000 bytes that the SDK streams with its default settings", async () => {
  const body = randomBytes(5_000_000);
  await s3.client.send(
    new PutObjectCommand({ Bucket, Key: "streamed", Body: streamOf(body), ContentLength: body.length }),
  );
  const head = await s3.client.send(new HeadObjectCommand({ Bucket, Key: "streamed" }));
  expect(head.ContentLength).toBe(5_000_000);
  expect(head.ContentEncoding).toBeUndefined();
  expect((await bytesOf("streamed")).equals(body)).toBe(true);
});

test("PutObject stores an empty body", async () => {
  await s3.client.send(new PutObjectCommand({ Bucket, Key: "empty", Body: "" }));
  expect(await bytesOf("empty")).toHaveLength(0);
});

test("an S3 object keeps its type, encoding, caching and metadata", async () => {
  const said = { ContentType: "text/csv", ContentEncoding: "gzip", CacheControl: "no-store", Metadata: { who: "me" } };
  await s3.client.send(new PutObjectCommand({ Bucket, Key: "described", Body: "a,b", ...said }));
  expect(await s3.client.send(new HeadObjectCommand({ Bucket, Key: "described" }))).toMatchObject(said);
});

const keys = [
  "a",
  "a/b",
  "a//b",
  "/",
  "../../etc/passwd",
  "..",
  "./x/../y",
  "Case/KEY",
  "case/key",
  "sp ace+plus%25?#&=",
  "é/漢字/😀",
  "e\u0301/composed",
  "\u0001control",
  `${"long".repeat(250)}/end`,
  "trailing/",
  "$~^%",
];

test("every S3 key has its own object, even with unusual characters", async () => {
  for (const Key of keys) await s3.client.send(new PutObjectCommand({ Bucket, Key, Body: `body of ${Key}` }));
  for (const Key of keys) expect((await bytesOf(Key)).toString()).toBe(`body of ${Key}`);
});

test.each([
  ["over 1024 bytes", `/${Bucket}/${"é".repeat(513)}`, "KeyTooLongError"],
  ["that is no UTF-8", `/${Bucket}/%ff`, "InvalidURI"],
  ["in no bucket", "/nobody/key", "NoSuchBucket"],
  ["in a bucket outside the data folder", "/../key", "NoSuchBucket"],
])("PutObject refuses a key %s", async (_, path, code) => {
  const url = new URL(s3.server.url);
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(Number(url.port), "127.0.0.1");
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
      if (text.includes("</Error>")) socket.destroy();
    });
    socket.on("close", () => resolve(text));
    const target = encodeURI(path).replaceAll("%25", "%");
    const headers = Object.entries(signedHeaders("s3", key, "http://localhost", { method: "PUT" }, { path: target }));
    socket.write(`PUT ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n`);
    socket.write(`${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\nx`);
  });
  expect(answer).toContain(`<Code>${code}</Code>`);
});

describe("the checksum of an S3 object", () => {
  test.each(Object.values(ChecksumAlgorithm).filter((name) => !/XXHASH|MD5|SHA512/.test(name)))(
    "of the kind %s that the SDK computes is verified, stored and returned",
    async (algorithm) => {
      const name = `Checksum${algorithm}` as const;
      const body = Buffer.from("123456789");
      const Key = `checked ${algorithm}`;
      const put = await s3.client.send(
        new PutObjectCommand({ Bucket, Key, Body: streamOf(body), ContentLength: 9, ChecksumAlgorithm: algorithm }),
      );
      const got = await s3.client.send(new GetObjectCommand({ Bucket, Key, ChecksumMode: "ENABLED" }));
      expect(await got.Body?.transformToString()).toBe("123456789");
      expect(got[name as "ChecksumSHA256"]).toBe(put[name as "ChecksumSHA256"]);
      expect(got[name as "ChecksumSHA256"]).toBe(known[algorithm as keyof typeof known]);
    },
  );

  test.each([
    ["x-amz-checksum-sha256", sha256(Buffer.from("other")), "BadDigest"],
    ["x-amz-checksum-crc32", "AAAAAA==", "BadDigest"],
    ["x-amz-checksum-crc64nvme", "AAAAAAAAAAA=", "BadDigest"],
    ["x-amz-checksum-sha1", "AAAA", "InvalidRequest"],
    ["content-md5", createHash("md5").update("other").digest("base64"), "BadDigest"],
    ["content-md5", "AAAA", "InvalidDigest"],
    ["x-amz-content-sha256", "0".repeat(64), "XAmzContentSHA256Mismatch"],
  ])("that is wrong (%s: %s) is refused with %s, and nothing is stored", async (name, value, code) => {
    const answer = await raw(s3.server, `/${Bucket}/wrong`, {
      method: "PUT",
      body: "body",
      headers: { [name]: value },
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(`<Code>${code}</Code>`);
    expect(await isThere("wrong")).toBe(false);
  });

  test("that the SDK sends is refused if it is not the SHA-256 of the body", async () => {
    const wrong = { Bucket, Key: "wrong", Body: "body", ChecksumSHA256: sha256(Buffer.from("other")) };
    await expect(s3.client.send(new PutObjectCommand(wrong))).rejects.toMatchObject({ name: "BadDigest" });
  });
});

/** The checksums of "123456789". Those of CRC algorithms are from the catalogue of CRC algorithms. */
const known = {
  CRC32: Buffer.from("cbf43926", "hex").toString("base64"),
  CRC32C: Buffer.from("e3069283", "hex").toString("base64"),
  CRC64NVME: Buffer.from("ae8b14860a799888", "hex").toString("base64"),
  SHA1: createHash("sha1").update("123456789").digest("base64"),
  SHA256: sha256(Buffer.from("123456789")),
};

describe("a condition of PutObject", () => {
  const put = (Key: string, Body: string, condition: object) =>
    s3.client.send(new PutObjectCommand({ Bucket, Key, Body, ...condition }));
  const refused = { name: "PreconditionFailed", $metadata: { httpStatusCode: 412 } };

  test("(If-None-Match: *) lets one of many writers succeed, and refuses the others", async () => {
    const writers = Array.from({ length: 20 }, (_, index) => put("once", `writer ${index}`, { IfNoneMatch: "*" }));
    const results = await Promise.allSettled(writers);
    const winners = results.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
    expect(winners).toHaveLength(1);
    expect((await bytesOf("once")).toString()).toBe(`writer ${winners[0]}`);
    await expect(put("once", "late", { IfNoneMatch: "*" })).rejects.toMatchObject(refused);
  });

  test("that fails is reported before a large body is uploaded", async () => {
    await put("large", "there", {});
    const body = streamOf(randomBytes(5_000_000));
    await expect(
      s3.client.send(
        new PutObjectCommand({ Bucket, Key: "large", Body: body, ContentLength: 5_000_000, IfNoneMatch: "*" }),
      ),
    ).rejects.toMatchObject(refused);
    expect(body.readableDidRead).toBe(false);
  });

  test("that the local S3 does not support is refused with the error NotImplemented", async () => {
    await expect(put("matched", "two", { IfMatch: '"etag"' })).rejects.toMatchObject({ name: "NotImplemented" });
  });
});

describe("an incomplete write to the local S3", () => {
  test("is never visible, because a reader gets either the complete old object or the complete new object", async () => {
    const [old, young] = [Buffer.alloc(2_000_000, "a"), Buffer.alloc(2_000_000, "b")];
    await s3.client.send(new PutObjectCommand({ Bucket, Key: "over", Body: old }));
    let isWriting = true;
    const writing = (async () => {
      for (let round = 1; round <= 6; round++) {
        await s3.client.send(new PutObjectCommand({ Bucket, Key: "over", Body: round % 2 ? young : old }));
      }
      isWriting = false;
    })();
    let reads = 0;
    while (isWriting) {
      const seen = await bytesOf("over");
      expect(seen.equals(old) || seen.equals(young)).toBe(true);
      reads++;
    }
    await writing;
    expect(reads).toBeGreaterThan(1);
  });

  test("does not replace the old object if the client has disconnected", async () => {
    await s3.client.send(new PutObjectCommand({ Bucket, Key: "cut", Body: "whole" }));
    const controller = new AbortController();
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => stream.enqueue(Buffer.alloc(100_000)),
      pull: () => controller.abort(),
    });
    const headers = { "x-amz-decoded-content-length": "5000000" };
    const init = { method: "PUT", body, headers, duplex: "half", signal: controller.signal } as RequestInit;
    await expect(raw(s3.server, `/${Bucket}/cut`, init)).rejects.toThrow();
    expect((await bytesOf("cut")).toString()).toBe("whole");
  });

  test("is refused if it is shorter than its announced length", async () => {
    const headers = { "x-amz-decoded-content-length": "10" };
    const answer = await raw(s3.server, `/${Bucket}/short`, { method: "PUT", body: "body", headers });
    expect(await answer.text()).toContain("<Code>IncompleteBody</Code>");
    expect(await isThere("short")).toBe(false);
  });
});
