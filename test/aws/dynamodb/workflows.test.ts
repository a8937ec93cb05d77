import { DeleteObjectCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { createServiceStores } from "@nova/aws";
import type { WorkflowVersion } from "@nova/engine";
import type { Publication } from "@nova/service";
import type { Workflow } from "@nova/workflow";
import { describe, expect, it, test } from "vitest";
import { createWorkflowStore, workflowIds } from "../../../packages/aws/src/dynamodb/workflows.ts";
import frozen from "../../fixtures/formats/publishing-1.json" with { type: "json" };
import { useBucket, useTable } from "../support/endpoints.ts";

const table = useTable();
const bucket = useBucket();

const workflow = (codeBytes: number): Workflow => ({
  format: 1,
  id: "invoice",
  name: "Invoice",
  requirements: [],
  lib: {},
  nodes: [
    { id: "start", type: "start" },
    { id: "a", type: "action", timeoutSeconds: 60, executor: { kind: "code", code: "é".repeat(codeBytes / 2) } },
    { id: "end", type: "end" },
  ],
  edges: [{ from: "start", to: "a", condition: "default" }],
});

const version = (number: number, codeBytes = 100, workflowId = "invoice"): WorkflowVersion => ({
  format: 1,
  workflowId,
  version: number,
  hash: `hash-${number}`,
  workflow: workflow(codeBytes),
  template: "base",
  stateMachineArn: `arn:aws:states:us-east-1:000000000000:stateMachine:nova-${workflowId}:${number}`,
  createdAt: "2026-11-21T10:00:00.000Z",
});

/** Returns a store with an empty cache. */
const open = () => createWorkflowStore(table, bucket);

test("the second of two workflow versions with the same number is refused", async () => {
  expect(await open().create(version(1))).toBe(true);
  expect(await open().create({ ...version(1), hash: "other" })).toBe(false);
  expect(await open().get("invoice", 1)).toEqual(version(1));
});

test("the latest workflow version is the version with the highest number, so that 10 is later than 9", async () => {
  for (const number of [2, 10, 9]) await open().create(version(number));
  expect((await open().latest("invoice"))?.version).toBe(10);
  expect(await open().latest("unknown")).toBeUndefined();
  expect(await open().get("invoice", 11)).toBeUndefined();
});

test("a workflow version is stored with its budget of history events if it has one", async () => {
  const history = { most: 20_000, begun: 6, settled: 7, entries: { a: { own: 5 }, "m.join": { own: 15, each: 6 } } };
  await open().create({ ...version(1, 100, "loop"), history });
  expect(await open().get("loop", 1)).toEqual({ ...version(1, 100, "loop"), history });
});

test("every version of every workflow is listed", async () => {
  await open().create(version(1, 100, "archive"));
  const found = await Array.fromAsync(open().everyVersion());
  expect(found.map(({ workflowId, version: number }) => `${workflowId} ${number}`)).toEqual([
    "archive 1",
    "invoice 1",
    "invoice 2",
    "invoice 9",
    "invoice 10",
    "loop 1",
  ]);
});

test("the ids of workflows are listed without reading their definitions", async () => {
  await open().create(version(2, 10_000, "archive"));
  await bucket.client.send(new DeleteObjectCommand({ Bucket: bucket.bucket, Key: "workflows/archive/hash-2.json" }));
  bucket.operations.length = 0;
  expect(await Array.fromAsync(open().ids())).toEqual(["archive", "invoice", "loop"]);
  expect(bucket.operations).toEqual([]);
  await expect(Array.fromAsync(open().everyVersion())).rejects.toThrow(/is not in the bucket any more/);
});

test("a workflow version is read from the table once, and later from the cache", async () => {
  const store = open();
  await store.get("invoice", 1);
  table.operations.length = 0;
  expect(await store.get("invoice", 1)).toEqual(version(1));
  expect(table.operations).toEqual([]);
});

test("a caller can read a workflow version from the table even if the cache has this version", async () => {
  const store = open();
  await store.create(version(1, 10_000, "stale"));
  await store.get("stale", 1);
  await bucket.client.send(new DeleteObjectCommand({ Bucket: bucket.bucket, Key: "workflows/stale/hash-1.json" }));
  expect(await store.get("stale", 1)).toEqual(version(1, 10_000, "stale"));
  await expect(store.stored("stale", 1)).rejects.toThrow(/is not in the bucket any more/);
  expect(await store.stored("stale", 2)).toBeUndefined();
});

describe("a workflow definition over 8 KB", () => {
  test("is stored in S3, and read unchanged", async () => {
    const large = version(20, 500_000);
    await open().create(large);
    const { Contents } = await bucket.client.send(new ListObjectsV2Command({ Bucket: bucket.bucket }));
    expect(Contents?.map(({ Key }) => Key)).toEqual(["workflows/invoice/hash-20.json"]);
    expect(await open().get("invoice", 20)).toEqual(large);
    expect(await open().latest("invoice")).toEqual(large);
  });

  test("causes an error with advice if it is missing in S3", async () => {
    await open().create(version(21, 10_000));
    const key = { Bucket: bucket.bucket, Key: "workflows/invoice/hash-21.json" };
    await bucket.client.send(new DeleteObjectCommand(key));
    await expect(open().get("invoice", 21)).rejects.toThrow(/version 21 of workflow "invoice".*publish/);
  });
});

describe("the publication of a version", () => {
  const bucket = useBucket();
  const table = useTable();
  const [ready, , waiting] = frozen.values.publications as [Publication, Publication, Publication];
  const handedOver = { times: 2, at: "2026-01-01T00:02:00.000Z" };

  test("records how often it was put into the queue again, until the publication has ended", async () => {
    const { publications } = createServiceStores({ ...table, bucket });
    await publications.create(waiting);
    await publications.recordHandOver(waiting, handedOver);
    expect(await publications.get(waiting)).toEqual({ ...waiting, handedOver });
    const { workflowId, version, createdAt } = waiting;
    expect(await Array.fromAsync(publications.pending())).toEqual([{ workflowId, version, createdAt, handedOver }]);
    await publications.settle(waiting, { status: "ready" });
    await publications.recordHandOver(waiting, { ...handedOver, times: 3 });
    expect(await publications.get(waiting)).toEqual({ ...waiting, status: "ready", handedOver });
    await publications.recordHandOver({ ...ready, workflowId: "nobodys" }, handedOver);
    expect(await publications.get({ ...ready, workflowId: "nobodys" })).toBeUndefined();
  });

  test("is listed with other publications even if it has a newer format, and can then be marked as failed", async () => {
    const { publications } = createServiceStores({ ...table, bucket });
    await publications.create({ ...waiting, workflowId: "newer", format: 2 as never });
    await publications.create({ ...waiting, workflowId: "current" });
    const pending = async () => (await Array.fromAsync(publications.pending())).map(({ workflowId }) => workflowId);
    expect(await pending()).toEqual(["current", "newer"]);
    const name = { workflowId: "newer", version: waiting.version };
    await expect(publications.get(name)).rejects.toThrow(/stored in format 2/);
    await publications.settle(name, { status: "failed", reason: "it is stored in format 2" });
    expect(await pending()).toEqual(["current"]);
  });
});

/**
 * Simulates an index of workflow versions with two items per page. `text` lists the items, each as a workflow (a
 * letter) and a version (a digit).
 */
function index(text: string) {
  const rows = text
    .split(" ")
    .filter(Boolean)
    .map(([id = "", digit]) => [id, Number(digit)] as const);
  const asked: string[] = [];
  const key = (workflowId: string, version: number) => `${workflowId}#${String(version).padStart(10, "0")}`;
  const behind = (last: { workflowId: string; version: number }) => {
    const left = rows.filter(([id, version]) => key(id, version) > key(last.workflowId, last.version));
    asked.push(last.workflowId);
    const data = left.slice(0, 2).map(([workflowId]) => ({ workflowId }));
    return { go: async () => ({ data, cursor: left.length > 2 ? "there is more" : null }) };
  };
  return { asked, behind };
}

describe("ids of workflows", () => {
  const table = useTable();
  const bucket = useBucket();

  it.each([
    ["an empty index", "", "", [], [""]],
    ["one page", "a1 b1", "", ["a", "b"], [""]],
    ["a page that ends inside a workflow", "a1 b1 b2 b3", "", ["a", "b"], ["", "b"]],
    ["a workflow with more versions than a page holds", "a1 a2 a3 a4 c1", "", ["a", "c"], ["", "a"]],
    ["a start after a given id", "a1 b1 c7", "a", ["b", "c"], ["a"]],
    ["a start after an unknown id", "a1 c1", "b", ["c"], ["b"]],
  ])("are listed in order, once each, over several pages: %s", async (_what, rows, after, expected, queries) => {
    const { asked, behind } = index(rows);
    expect(await Array.fromAsync(workflowIds(behind, after))).toEqual(expected);
    expect(asked).toEqual(queries);
  });

  const version = (workflowId: string, number: number) => ({
    format: 1,
    workflowId,
    version: number,
    hash: `hash-${number}`,
    template: "base",
    createdAt: "2026-01-01",
    stateMachineArn: "arn",
    status: "publishing",
    workflow: { id: workflowId, lib: { "big.py": "#".repeat(9000) } },
  });

  it("are read from versions and publications, but not from definitions", async () => {
    const stores = { versions: createWorkflowStore(table, bucket), ...createServiceStores({ ...table, bucket }) };
    for (const [id, number] of [
      ["b", 1],
      ["b", 2],
      ["b-2", 1],
      ["b_2", 10],
      ["a", 1],
    ] as const) {
      const { status: _, ...ready } = version(id, number);
      await stores.versions.create(ready as never);
      const { stateMachineArn: __, ...unready } = version(id, number);
      await stores.publications.create(unready as unknown as Publication);
    }
    bucket.operations.length = 0;
    for (const store of [stores.versions, stores.publications]) {
      table.requests.length = 0;
      expect(await Array.fromAsync(store.ids())).toEqual(["a", "b", "b-2", "b_2"]);
      expect(await Array.fromAsync(store.ids("b"))).toEqual(["b-2", "b_2"]);
      expect(table.requests).toMatchObject([{ Limit: 200 }, { Limit: 200 }]);
      for (const { ProjectionExpression } of table.requests)
        expect(ProjectionExpression).toMatch(/^((?!definition).)*#workflowId((?!definition).)*$/);
    }
    expect(bucket.operations).toEqual([]);
  });
});
