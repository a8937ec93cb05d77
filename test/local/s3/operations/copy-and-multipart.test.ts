import { randomBytes } from "node:crypto";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { describe, expect, test } from "vitest";
import { Bucket, useS3 } from "../support/client.ts";

const s3 = useS3();
const get = (Key: string) => s3.client.send(new GetObjectCommand({ Bucket, Key }));

describe("CopyObject", () => {
  test("copies bytes, type and metadata, or takes new ones", async () => {
    const said = { ContentType: "text/plain", Metadata: { by: "first" } };
    await s3.client.send(new PutObjectCommand({ Bucket, Key: "from é", Body: "copied", ...said }));
    const CopySource = `${Bucket}/${encodeURIComponent("from é")}`;
    await s3.client.send(new CopyObjectCommand({ Bucket, Key: "same", CopySource }));
    const replaced = { MetadataDirective: "REPLACE", Metadata: { by: "second" } } as const;
    await s3.client.send(new CopyObjectCommand({ Bucket, Key: "other", CopySource, ...replaced }));
    expect(await get("same")).toMatchObject(said);
    expect((await get("other")).Metadata).toEqual({ by: "second" });
    expect(await (await get("other")).Body?.transformToString()).toBe("copied");
  });

  test("knows no source that is not there", async () => {
    const copy = new CopyObjectCommand({ Bucket, Key: "x", CopySource: `${Bucket}/missing` });
    await expect(s3.client.send(copy)).rejects.toMatchObject({ name: "NoSuchKey" });
  });
});

describe("a multipart upload", () => {
  const parts = [randomBytes(5 * 1024 * 1024), randomBytes(5 * 1024 * 1024), randomBytes(1000)] as const;

  async function create(Key: string) {
    const { UploadId } = await s3.client.send(new CreateMultipartUploadCommand({ Bucket, Key, ContentType: "x/y" }));
    const at = { Bucket, Key, UploadId };
    const upload = async (PartNumber: number, Body: Buffer) => {
      const { ETag, ChecksumCRC32 } = await s3.client.send(new UploadPartCommand({ ...at, PartNumber, Body }));
      return { PartNumber, ETag, ChecksumCRC32 };
    };
    const complete = (Parts: object[], condition = {}) =>
      s3.client.send(new CompleteMultipartUploadCommand({ ...at, MultipartUpload: { Parts }, ...condition }));
    return { at, upload, complete };
  }

  test("puts its parts together in their order, whenever they came, the last of each number", async () => {
    const { upload, complete } = await create("whole");
    await upload(2, parts[2]);
    const [third, second, first] = [await upload(3, parts[2]), await upload(2, parts[1]), await upload(1, parts[0])];
    const { ETag } = await complete([first, second, third]);
    expect(ETag).toMatch(/^"[0-9a-f]{32}-3"$/);
    const got = await get("whole");
    expect(got.ContentType).toBe("x/y");
    expect(Buffer.concat(parts).equals((await got.Body?.transformToByteArray()) as Uint8Array)).toBe(true);
    await expect(complete([first])).rejects.toMatchObject({ name: "NoSuchUpload" });
  });

  test.each<[string, (made: { PartNumber: number; ETag: string | undefined }[]) => object[], string]>([
    ["a part that never came", ([first]) => [first as object, { PartNumber: 9, ETag: '"x"' }], "InvalidPart"],
    ["another ETag", () => [{ PartNumber: 1, ETag: '"x"' }], "InvalidPart"],
    ["parts out of order", ([first, second]) => [second as object, first as object], "InvalidPartOrder"],
    ["a first part under 5 MiB", ([first, second]) => [first as object, second as object], "EntityTooSmall"],
    ["no parts", () => [], "MalformedXML"],
  ])("is refused with %s, and nothing is visible", async (_, choose, name) => {
    const { upload, complete } = await create("refused");
    const made = [await upload(1, parts[2]), await upload(2, parts[2])];
    await expect(complete(choose(made))).rejects.toMatchObject({ name });
    await expect(get("refused")).rejects.toMatchObject({ name: "NoSuchKey" });
  });

  test("honours If-None-Match when it is completed", async () => {
    await s3.client.send(new PutObjectCommand({ Bucket, Key: "taken", Body: "first" }));
    const { upload, complete } = await create("taken");
    const part = await upload(1, parts[2]);
    await expect(complete([part], { IfNoneMatch: "*" })).rejects.toMatchObject({ name: "PreconditionFailed" });
    expect(await (await get("taken")).Body?.transformToString()).toBe("first");
  });

  test("is forgotten when it is aborted", async () => {
    const { at, upload, complete } = await create("aborted");
    const part = await upload(1, parts[2]);
    await s3.client.send(new AbortMultipartUploadCommand(at));
    await expect(complete([part])).rejects.toMatchObject({ name: "NoSuchUpload" });
    await expect(upload(2, parts[2])).rejects.toMatchObject({ name: "NoSuchUpload" });
  });
});
