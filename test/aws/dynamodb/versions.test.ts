import { DeleteObjectCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import type { WorkflowVersion } from "@nova/engine";
import type { Workflow } from "@nova/workflow";
import { describe, expect, test } from "vitest";
import { createWorkflowStore } from "../../../packages/aws/src/dynamodb/workflows.ts";
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

/** A store with an empty cache. */
const open = () => createWorkflowStore(table, bucket);

test("the first of two versions with one number is kept", async () => {
  expect(await open().create(version(1))).toBe(true);
  expect(await open().create({ ...version(1), hash: "other" })).toBe(false);
  expect(await open().get("invoice", 1)).toEqual(version(1));
});

test("the latest version has the highest number, not the highest text", async () => {
  for (const number of [2, 10, 9]) await open().create(version(number));
  expect((await open().latest("invoice"))?.version).toBe(10);
  expect(await open().latest("unknown")).toBeUndefined();
  expect(await open().get("invoice", 11)).toBeUndefined();
});

test("a version keeps its history budget, if it has one", async () => {
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

test("workflow ids are listed without reading their definitions", async () => {
  await open().create(version(2, 10_000, "archive"));
  await bucket.client.send(new DeleteObjectCommand({ Bucket: bucket.bucket, Key: "workflows/archive/hash-2.json" }));
  bucket.operations.length = 0;
  expect(await Array.fromAsync(open().ids())).toEqual(["archive", "invoice", "loop"]);
  expect(bucket.operations).toEqual([]);
  await expect(Array.fromAsync(open().everyVersion())).rejects.toThrow(/is not in the bucket any more/);
});

test("a version is read once", async () => {
  const store = open();
  await store.get("invoice", 1);
  table.operations.length = 0;
  expect(await store.get("invoice", 1)).toEqual(version(1));
  expect(table.operations).toEqual([]);
});

test("a stored version can be read without the cache", async () => {
  const store = open();
  await store.create(version(1, 10_000, "stale"));
  await store.get("stale", 1);
  await bucket.client.send(new DeleteObjectCommand({ Bucket: bucket.bucket, Key: "workflows/stale/hash-1.json" }));
  expect(await store.get("stale", 1)).toEqual(version(1, 10_000, "stale"));
  await expect(store.stored("stale", 1)).rejects.toThrow(/is not in the bucket any more/);
  expect(await store.stored("stale", 2)).toBeUndefined();
});

describe("a definition over 8 KB", () => {
  test("is stored in S3, and read back whole", async () => {
    const large = version(20, 500_000);
    await open().create(large);
    const { Contents } = await bucket.client.send(new ListObjectsV2Command({ Bucket: bucket.bucket }));
    expect(Contents?.map(({ Key }) => Key)).toEqual(["workflows/invoice/hash-20.json"]);
    expect(await open().get("invoice", 20)).toEqual(large);
    expect(await open().latest("invoice")).toEqual(large);
  });

  test("that is missing is reported with a way out", async () => {
    await open().create(version(21, 10_000));
    const key = { Bucket: bucket.bucket, Key: "workflows/invoice/hash-21.json" };
    await bucket.client.send(new DeleteObjectCommand(key));
    await expect(open().get("invoice", 21)).rejects.toThrow(/version 21 of workflow "invoice".*publish/);
  });
});
