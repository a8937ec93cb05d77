import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListBucketsCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from "@aws-sdk/client-s3";
import { describe, expect, test } from "vitest";
import { openS3 } from "../../../packages/aws-local/src/s3/server.ts";
import { type Signing, signedHeaders } from "../support/signed.ts";
import { Bucket, clientOf, key, raw, useS3 } from "./support/client.ts";

const s3 = useS3();

describe("access to the local S3", () => {
  test("requires the key of the data folder", async () => {
    const stranger = clientOf(s3.server, { credentials: { ...key, accessKeyId: "other" } });
    const refused = { name: "InvalidAccessKeyId", $metadata: { httpStatusCode: 403 } };
    await expect(stranger.send(new ListBucketsCommand({}))).rejects.toMatchObject(refused);
    await expect(stranger.send(new PutObjectCommand({ Bucket, Key: "a", Body: "b" }))).rejects.toMatchObject(refused);
    expect(s3.requests).toEqual([]);
    stranger.destroy();
  });

  test("is denied to a client with the id of the data folder's key and another secret", async () => {
    const stranger = clientOf(s3.server, { credentials: { ...key, secretAccessKey: "anything" } });
    const refused = { name: "SignatureDoesNotMatch", $metadata: { httpStatusCode: 403 } };
    await expect(stranger.send(new ListBucketsCommand({}))).rejects.toMatchObject(refused);
    await expect(stranger.send(new PutObjectCommand({ Bucket, Key: "a", Body: "b" }))).rejects.toMatchObject(refused);
    expect(s3.requests).toEqual([]);
    stranger.destroy();
  });

  test.each<[string, Signing, RequestInit, string]>([
    ["a time long ago", { atMs: Date.parse("2026-01-01T00:00:00Z") }, {}, "RequestTimeTooSkewed"],
    [
      "a header that was not signed",
      { leftOut: ["x-amz-meta-a"] },
      { headers: { "x-amz-meta-a": "1" } },
      "AccessDenied",
    ],
    [
      "an unknown word instead of the hash of its body",
      {},
      { headers: { "x-amz-content-sha256": "none" } },
      "InvalidArgument",
    ],
  ])("is denied to a request with %s", async (_, signing, init, code) => {
    const url = `${s3.server.url}/${Bucket}/key`;
    const headers = signedHeaders("s3", key, url, init, signing);
    expect(await (await fetch(url, { headers })).text()).toContain(`<Code>${code}</Code>`);
    expect(s3.requests).toEqual([]);
  });

  test("is denied without a signature", async () => {
    const answer = await fetch(`${s3.server.url}/${Bucket}/key`);
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain("<Code>AccessDenied</Code>");
  });
});

describe("buckets of the local S3", () => {
  test("are created once, and can be found and listed", async () => {
    const create = () => s3.client.send(new CreateBucketCommand({ Bucket: "another-bucket" }));
    await create();
    await expect(create()).rejects.toMatchObject({ name: "BucketAlreadyOwnedByYou" });
    const { Buckets } = await s3.client.send(new ListBucketsCommand({}));
    expect(Buckets?.map(({ Name }) => Name)).toEqual(["another-bucket", Bucket]);
    await s3.client.send(new HeadBucketCommand({ Bucket: "another-bucket" }));
    await expect(s3.client.send(new HeadBucketCommand({ Bucket: "missing" }))).rejects.toMatchObject({
      name: "NotFound",
    });
  });

  test.each(["ab", "Upper", "under_score", "-dash"])("cannot have the name %s", async (name) => {
    const answer = await raw(s3.server, `/${name}`, { method: "PUT" });
    expect(await answer.text()).toContain("<Code>InvalidBucketName</Code>");
  });
});

test.each([
  ["PUT", `/${Bucket}/key?acl`],
  ["GET", `/${Bucket}/key?tagging`],
  ["GET", `/${Bucket}`],
  ["PATCH", `/${Bucket}/key`],
])("the local S3 refuses %s %s, which it does not have", async (method, path) => {
  const answer = await raw(s3.server, path, { method });
  expect(answer.status).toBe(501);
  expect(await answer.text()).toContain("<Code>NotImplemented</Code>");
});

test.each([
  ["DELETE", "/plain?publicAccessBlock"],
  ["PUT", "/new-bucket?abac"],
  ["PUT", "/plain/object?renameObject"],
  ["GET", "/plain/object?attributes"],
  ["DELETE", "/plain/object?annotation"],
  ["DELETE", "/plain/object?versionId=1"],
])("the local S3 refuses %s %s, and does not ignore the unknown query parameter", async (method, path) => {
  const send = s3.client.send.bind(s3.client);
  await send(new CreateBucketCommand({ Bucket: "plain" })).catch(() => undefined);
  const answer = await raw(s3.server, path, { method });
  expect([answer.status, await answer.text()]).toEqual([501, expect.stringContaining("<Code>NotImplemented</Code>")]);
  const { Buckets } = await send(new ListBucketsCommand({}));
  expect(Buckets?.map(({ Name }) => Name)).toContain("plain");
  expect(Buckets?.map(({ Name }) => Name)).not.toContain("new-bucket");
});

test("the local S3 refuses multipart uploads, so it never stores a part as the whole object", async () => {
  const create = s3.client.send(new CreateMultipartUploadCommand({ Bucket, Key: "parts" }));
  await expect(create).rejects.toMatchObject({ name: "NotImplemented", message: expect.stringContaining("?uploads") });
  const part = { Bucket, Key: "parts", UploadId: "any", PartNumber: 1 };
  const copied = s3.client.send(new UploadPartCopyCommand({ ...part, CopySource: `${Bucket}/any` }));
  await expect(copied).rejects.toMatchObject({ name: "NotImplemented" });
  const sent = s3.client.send(new UploadPartCommand({ ...part, Body: "part" }));
  await expect(sent).rejects.toMatchObject({ name: "NotImplemented" });
});

test("the local S3 calls its option `faults` for every accepted request", async () => {
  await s3.client.send(new PutObjectCommand({ Bucket, Key: "seen/é", Body: "12345" }));
  expect(s3.requests).toEqual([{ operation: "PutObject", bucket: Bucket, key: "seen/é" }]);
});

describe("an injected fault of the local S3", () => {
  test.each([
    ["throttle", "SlowDown", 503],
    ["error", "InternalError", 500],
  ] as const)("(%s) makes a request fail before it has an effect", async (fault, name, httpStatusCode) => {
    s3.faults = () => fault;
    const put = s3.client.send(new PutObjectCommand({ Bucket, Key: `fault-${fault}`, Body: "x" }));
    await expect(put).rejects.toMatchObject({ name, $metadata: { httpStatusCode } });
    s3.faults = undefined;
    await expect(s3.client.send(new GetObjectCommand({ Bucket, Key: `fault-${fault}` }))).rejects.toThrow();
  });

  test("that is temporary is hidden by the retries of the AWS SDK", async () => {
    let left = 2;
    s3.faults = () => (left-- > 0 ? "throttle" : undefined);
    const patient = new S3Client({
      endpoint: s3.server.url,
      region: "us-east-1",
      forcePathStyle: true,
      credentials: key,
      maxAttempts: 3,
    });
    await patient.send(new PutObjectCommand({ Bucket, Key: "patient", Body: "x" }));
    patient.destroy();
  });
});

test("the local S3 keeps its objects over a restart, and removes the incomplete writes of a killed process", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "nova-s3-"));
  const unfinished = join(dataDir, "s3", "unfinished");
  const open = () => openS3({ dataDir, ...key });
  const first = await open();
  const writer = clientOf(first);
  await writer.send(new CreateBucketCommand({ Bucket: "kept" }));
  await writer.send(new PutObjectCommand({ Bucket: "kept", Key: "a/é", Body: "kept", Metadata: { who: "me" } }));
  writer.destroy();
  await first.close();
  await writeFile(join(unfinished, "half"), "half a wri");
  const second = await open();
  expect(await readdir(unfinished)).toEqual([]);
  const reader = clientOf(second);
  const got = await reader.send(new GetObjectCommand({ Bucket: "kept", Key: "a/é" }));
  expect(await got.Body?.transformToString()).toBe("kept");
  expect(got.Metadata).toEqual({ who: "me" });
  reader.destroy();
  await second.close();
  await rm(dataDir, { recursive: true });
});
