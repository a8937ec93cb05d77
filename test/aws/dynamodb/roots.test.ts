import { GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { hashTree, leafBytes, sha256, TreeDamaged } from "@nova/engine";
import { beforeEach, describe, expect, it } from "vitest";
import { createLeafStore, createRootStore, createRoots } from "../../../packages/aws/src/dynamodb/roots.ts";
import { useBucket, useTable } from "../support/endpoints.ts";

const table = useTable();
const bucket = useBucket();
let [leaves, store, roots] = [] as unknown as [
  ReturnType<typeof createLeafStore>,
  ReturnType<typeof createRootStore>,
  ReturnType<typeof createRoots>,
];
beforeEach(() => {
  [leaves, store, roots] = [createLeafStore(table), createRootStore(table, bucket), createRoots(table, bucket)];
});

const under = [
  { execution: "exec_a", hash: sha256("a") },
  { execution: "exec_b", hash: sha256("b") },
];
const treeOf = (number: number, size = 2) => ({
  number,
  size,
  tree: hashTree(under.map(leafBytes)).toString("hex"),
});
const keyOf = ({ number, tree }: { number: number; tree: string }) => `proofs/trees/${number}/${tree}.json`;

describe("the hashes that wait for the next tree of proofs", () => {
  const all = Array.from({ length: 60 }, (_, at) => ({
    execution: `exec_${at}`,
    hash: sha256(`entry ${at}`),
    closedAt: new Date(1_000_000 * at).toISOString(),
  }));

  it("are stored until they are removed, and a hash that is stored twice is listed once", async () => {
    for (const leaf of [...all, ...all]) await leaves.put(leaf);
    const found = await store.pending(1_000);
    expect(found.toSorted((a, b) => (a.closedAt < b.closedAt ? -1 : 1))).toEqual(all);
    await store.removePending(all.slice(1));
    expect(await store.pending(1_000)).toEqual([all[0]]);
    await store.removePending([]);
    await store.removePending(all);
    expect(await store.pending(1_000)).toEqual([]);
  });

  it("are listed up to a limit, beginning with the oldest hashes of each partition", async () => {
    for (const leaf of all) await leaves.put(leaf);
    const some = await store.pending(16);
    expect(some.length).toBeGreaterThan(8);
    expect(some.length).toBeLessThanOrEqual(16);
    const partitions = new Set(table.requests.flatMap(({ Item }) => (Item as { pk?: { S: string } })?.pk?.S ?? []));
    expect(partitions.size).toBe(16);
    await store.removePending(some);
    expect(await store.pending(1_000)).toHaveLength(60 - some.length);
    await store.removePending(all);
  });
});

describe("the stored root of a tree of proofs", () => {
  it("is written only once for each number, and the list of roots begins with the highest number", async () => {
    for (const number of [8, 9, 10, 11]) {
      expect(await store.create({ number, text: `text ${number}`, signature: "s" })).toBe(true);
      expect(await store.createStamp({ number, token: `token ${number}`, at: "2026", delayMs: number })).toBe(true);
    }
    expect(await store.create({ number: 9, text: "other", signature: "s" })).toBe(false);
    expect(await store.createStamp({ number: 9, token: "other", at: "2026", delayMs: 1 })).toBe(false);
    expect(await roots.read(9)).toEqual({ number: 9, text: "text 9", signature: "s" });
    expect(await roots.stamp(9)).toEqual({ number: 9, token: "token 9", at: "2026", delayMs: 9 });
    expect([await roots.read(12), await roots.stamp(12)]).toEqual([undefined, undefined]);
    expect((await store.list({ limit: 3 })).map(({ number }) => number)).toEqual([11, 10, 9]);
    expect((await store.list({ limit: 3, after: "10" })).map(({ number }) => number)).toEqual([9, 8]);
    expect((await store.stamps({ limit: 2, after: "11" })).map(({ number }) => number)).toEqual([10, 9]);
  });
});

describe("the leaves of a tree of proofs", () => {
  it("are stored in one S3 object, which is written once and read once", async () => {
    await store.createTree(treeOf(1), under);
    await store.createTree(treeOf(1), under);
    const object = await bucket.client.send(new GetObjectCommand({ Bucket: bucket.bucket, Key: keyOf(treeOf(1)) }));
    expect(await object.Body?.transformToString()).toBe(
      `{"format":1,"leaves":[["exec_a","${sha256("a")}"],["exec_b","${sha256("b")}"]]}`,
    );
    bucket.operations.length = 0;
    expect(await roots.leaves(treeOf(1))).toEqual(under);
    expect(await roots.leaves(treeOf(1))).toEqual(under);
    expect(bucket.operations).toHaveLength(1);
  });

  const [first, second] = under.map(({ execution, hash }) => JSON.stringify([execution, hash]));
  it.each([
    ["no object", undefined],
    ["other leaves", `{"format":1,"leaves":[["exec_a","${sha256("x")}"],${second}]}`],
    ["fewer leaves", `{"format":1,"leaves":[${first}]}`],
    ["another order", `{"format":1,"leaves":[${second},${first}]}`],
    ["another format", `{"format":2,"leaves":[${first},${second}]}`],
    ["a further field", `{"format":1,"leaves":[${first},${second}],"more":1}`],
    ["a leaf with three values", `{"format":1,"leaves":[${first},["exec_b","${sha256("b")}","c"]]}`],
    ["no list", `{"format":1}`],
    ["a text that is not JSON", "{"],
    ["null", "null"],
  ])("are refused if the bucket has %s", async (what, Body) => {
    const tree = treeOf(100 + what.length);
    if (Body !== undefined)
      await bucket.client.send(new PutObjectCommand({ Bucket: bucket.bucket, Key: keyOf(tree), Body }));
    await expect(roots.leaves(tree)).rejects.toThrow(TreeDamaged);
  });

  it("are refused if the root of the tree names a different number of leaves", async () => {
    await store.createTree(treeOf(1), under);
    await expect(createRoots(table, bucket).leaves(treeOf(1, 3))).rejects.toThrow(TreeDamaged);
  });
});
