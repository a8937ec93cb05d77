import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { expect, test } from "vitest";
import { openS3 } from "../../../../packages/aws-local/src/s3/server.ts";
import { Bucket, clientOf, key, raw, useS3 } from "../support/client.ts";

const s3 = useS3();
const put = (Key: string) => s3.client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
const keysLeft = async () =>
  (await s3.client.send(new ListObjectsV2Command({ Bucket }))).Contents?.map(({ Key }) => Key) ?? [];

test("DeleteObject deletes only the named object, and succeeds if it is repeated", async () => {
  for (const key of ["d/1", "d/1/2", "d"]) await put(key);
  for (const _ of [1, 2]) await s3.client.send(new DeleteObjectCommand({ Bucket, Key: "d/1" }));
  expect(await keysLeft()).toEqual(["d", "d/1/2"]);
  for (const Key of ["d", "d/1/2"]) await s3.client.send(new DeleteObjectCommand({ Bucket, Key }));
  expect(await keysLeft()).toEqual([]);
});

test("DeleteObjects deletes many objects at once, even with unusual characters in their keys", async () => {
  const keys = ["m/<1>", "m/&amp;", "m/é 😀", "m/gone"];
  for (const key of keys.slice(0, 3)) await put(key);
  const Objects = keys.map((Key) => ({ Key }));
  const answer = await s3.client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
  expect(answer.Deleted?.map(({ Key }) => Key)).toEqual(keys);
  expect(await keysLeft()).toEqual([]);
});

test("DeleteObjects refuses an invalid list of objects", async () => {
  const answer = await raw(s3.server, `/${Bucket}?delete`, { method: "POST", body: "<Delete></Delete>" });
  expect(await answer.text()).toContain("<Code>MalformedXML</Code>");
});

test("the deletion of an S3 object succeeds while other requests create and delete objects in the same folders", async () => {
  const rounds = Array.from({ length: 40 }, async (_, index) => {
    const Key = `race/deep/er/${index % 4}`;
    await put(Key);
    await s3.client.send(new DeleteObjectCommand({ Bucket, Key }));
  });
  await Promise.all(rounds);
  expect(await keysLeft()).toEqual([]);
});

test("the deletion of an S3 object leaves no empty folder", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "nova-s3-"));
  const server = await openS3({ dataDir, ...key });
  const client = clientOf(server);
  await client.send(new CreateBucketCommand({ Bucket: "emptied" }));
  await client.send(new PutObjectCommand({ Bucket: "emptied", Key: "a/b/c", Body: "x" }));
  await client.send(new DeleteObjectCommand({ Bucket: "emptied", Key: "a/b/c" }));
  expect(await readdir(join(dataDir, "s3", "buckets", "emptied"))).toEqual([]);
  client.destroy();
  await server.close();
  await rm(dataDir, { recursive: true });
});
