import { GetObjectCommand, type GetObjectCommandInput, HeadObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { beforeAll, describe, expect, test } from "vitest";
import { Bucket, useS3 } from "../support/client.ts";

const s3 = useS3();
const Key = "alphabet";
const body = "abcdefghijklmnopqrstuvwxyz";
let ETag: string;
beforeAll(async () => {
  ETag = (await s3.client.send(new PutObjectCommand({ Bucket, Key, Body: body }))).ETag as string;
});

const get = (input: Partial<GetObjectCommandInput> = {}) =>
  s3.client.send(new GetObjectCommand({ Bucket, Key, ...input }));

test.each([
  ["bytes=0-4", "abcde", "bytes 0-4/26"],
  ["bytes=5-", "fghijklmnopqrstuvwxyz", "bytes 5-25/26"],
  ["bytes=-3", "xyz", "bytes 23-25/26"],
  ["bytes=-100", body, "bytes 0-25/26"],
  ["bytes=20-1000", "uvwxyz", "bytes 20-25/26"],
])("GetObject returns the range %s", async (Range, expected, ContentRange) => {
  const part = await get({ Range });
  expect(await part.Body?.transformToString()).toBe(expected);
  expect(part).toMatchObject({ ContentRange, ContentLength: expected.length, $metadata: { httpStatusCode: 206 } });
  expect(part.ChecksumCRC32).toBeUndefined();
});

test.each(["bytes=9-3", "lines=1-2", "bytes=0-1,3-4"])("GetObject ignores the invalid range %s", async (Range) => {
  expect(await (await get({ Range })).Body?.transformToString()).toBe(body);
});

test("GetObject refuses a range after the end of the object", async () => {
  await expect(get({ Range: "bytes=26-" })).rejects.toMatchObject({ name: "InvalidRange" });
});

describe("a GetObject request", () => {
  test.each<[string, () => Partial<GetObjectCommandInput>, number]>([
    ["If-Match with the ETag of the object", () => ({ IfMatch: ETag }), 200],
    ["If-Match with another ETag", () => ({ IfMatch: '"other"' }), 412],
  ])("that has %s gets the response that S3 gives", async (_, input, status) => {
    const answer = get(input());
    if (status === 200) expect(await (await answer).Body?.transformToString()).toBe(body);
    else await expect(answer).rejects.toMatchObject({ $metadata: { httpStatusCode: status } });
  });
});

test("HeadObject returns the headers and no bytes", async () => {
  const head = await s3.client.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: "ENABLED" }));
  expect(head).toMatchObject({ ContentLength: 26, ETag, AcceptRanges: "bytes", ChecksumType: "FULL_OBJECT" });
  expect(head.ChecksumCRC32).toBeDefined();
  expect(Math.abs((head.LastModified as Date).getTime() - Date.now())).toBeLessThan(60_000);
});

test("a GetObject request can choose headers of the response", async () => {
  const got = await get({ ResponseContentType: "text/plain", ResponseContentDisposition: "attachment" });
  expect(got).toMatchObject({ ContentType: "text/plain", ContentDisposition: "attachment" });
});

test.each([
  ["key", { Key: "missing" }, "NoSuchKey"],
  ["key below an object", { Key: "alphabet/below" }, "NoSuchKey"],
  ["bucket", { Bucket: "missing" }, "NoSuchBucket"],
])("GetObject and HeadObject answer 404 for a missing %s", async (_, input, name) => {
  await expect(get(input)).rejects.toMatchObject({ name, $metadata: { httpStatusCode: 404 } });
  await expect(s3.client.send(new HeadObjectCommand({ Bucket, Key, ...input }))).rejects.toMatchObject({
    name: "NotFound",
  });
});

test("a download from S3 returns the complete old object if a put replaces the object during the download", async () => {
  const [old, young] = [Buffer.alloc(8_000_000, "o"), Buffer.alloc(8_000_000, "y")];
  await s3.client.send(new PutObjectCommand({ Bucket, Key: "replaced", Body: old }));
  const { Body } = await get({ Key: "replaced" });
  await s3.client.send(new PutObjectCommand({ Bucket, Key: "replaced", Body: young }));
  expect(old.equals((await Body?.transformToByteArray()) as Uint8Array)).toBe(true);
});
