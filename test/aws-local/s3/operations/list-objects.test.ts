import {
  CreateBucketCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  PutObjectCommand,
  paginateListObjectsV2,
} from "@aws-sdk/client-s3";
import { beforeAll, expect, test } from "vitest";
import { useS3 } from "../support/client.ts";

const s3 = useS3();
const Bucket = "listed";
const long = `${"l".repeat(400)}/deep`;
const keys = ["a", "a-b", "a/", "a/1", "a/2", "a/b/3", "a0", "B", "b", "blobs/c/x", "x&<y>", "é", "\uffee", "😀", long];
const sorted = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

beforeAll(async () => {
  await s3.client.send(new CreateBucketCommand({ Bucket }));
  for (const Key of keys) await s3.client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
});

async function list(input: Partial<ListObjectsV2CommandInput> = {}) {
  const page = await s3.client.send(new ListObjectsV2Command({ Bucket, ...input }));
  return {
    keys: page.Contents?.map(({ Key }) => Key) ?? [],
    prefixes: page.CommonPrefixes?.map(({ Prefix }) => Prefix) ?? [],
    page,
  };
}

test("ListObjectsV2 returns all keys in the order of their UTF-8 bytes", async () => {
  const { keys: found, page } = await list();
  expect(found).toEqual(sorted);
  expect(page).toMatchObject({ KeyCount: keys.length, IsTruncated: false });
  expect(page.Contents?.[0]).toMatchObject({ Size: 1, ETag: expect.stringMatching(/^"[0-9a-f]{32}"$/) });
});

test.each<[Partial<ListObjectsV2CommandInput>, string[], string[]]>([
  [{ Prefix: "a/" }, ["a/", "a/1", "a/2", "a/b/3"], []],
  [{ Prefix: "a" }, ["a", "a-b", "a/", "a/1", "a/2", "a/b/3", "a0"], []],
  [{ Prefix: "a/", Delimiter: "/" }, ["a/", "a/1", "a/2"], ["a/b/"]],
  [{ Prefix: "a", Delimiter: "/" }, ["a", "a-b", "a0"], ["a/"]],
  [{ Prefix: "blobs/c/" }, ["blobs/c/x"], []],
  [{ Prefix: "l".repeat(399) }, [long], []],
  [{ Prefix: "a", StartAfter: "a/1" }, ["a/2", "a/b/3", "a0"], []],
  [{ Prefix: "a", StartAfter: "a/1", Delimiter: "/" }, ["a0"], ["a/"]],
  [{ Prefix: "missing/" }, [], []],
  [{ MaxKeys: 0 }, [], []],
])("ListObjectsV2 returns the right keys and prefixes for %j", async (input, expectedKeys, expectedPrefixes) => {
  const { keys: found, prefixes } = await list(input);
  expect({ found, prefixes }).toEqual({ found: expectedKeys, prefixes: expectedPrefixes });
});

test.each([1, 2, 5])(
  "pages of ListObjectsV2 with %i keys have no gaps and no repetitions, even with common prefixes",
  async (pageSize) => {
    const found: (string | undefined)[] = [];
    for await (const page of paginateListObjectsV2({ client: s3.client, pageSize }, { Bucket, Delimiter: "/" })) {
      expect((page.Contents?.length ?? 0) + (page.CommonPrefixes?.length ?? 0)).toBeLessThanOrEqual(pageSize);
      found.push(...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix));
      found.push(...(page.Contents ?? []).map(({ Key }) => Key));
    }
    const { keys: whole, prefixes } = await list({ Delimiter: "/" });
    expect([...found].sort()).toEqual([...whole, ...prefixes].sort());
  },
);

test("ListObjectsV2 encodes keys if the client requests that", async () => {
  const { keys: found } = await list({ Prefix: "x", EncodingType: "url" });
  expect(found).toEqual(["x%26%3Cy%3E"]);
});
