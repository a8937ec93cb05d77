import { DeleteObjectCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import type { WorkflowVersion } from "@nova/engine";
import type { Workflow } from "@nova/workflow";
import { describe, expect, test } from "vitest";
import { createWorkflowStore } from "../../../packages/aws/src/dynamodb/versions.ts";
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

/** A store without a cache yet. */
const open = () => createWorkflowStore(table, bucket);

test("keeps the first of two versions with one number", async () => {
  expect(await open().create(version(1))).toBe(true);
  expect(await open().create({ ...version(1), hash: "other" })).toBe(false);
  expect(await open().get("invoice", 1)).toEqual(version(1));
});

test("knows the latest version by number, not by text", async () => {
  for (const number of [2, 10, 9]) await open().create(version(number));
  expect((await open().latest("invoice"))?.version).toBe(10);
  expect(await open().latest("unknown")).toBeUndefined();
  expect(await open().get("invoice", 11)).toBeUndefined();
});

test("keeps by what a version counts its events, where it does", async () => {
  const history = { most: 20_000, begun: 6, settled: 7, entries: { a: { own: 5 }, "m.join": { own: 15, each: 6 } } };
  await open().create({ ...version(1, 100, "loop"), history });
  expect(await open().get("loop", 1)).toEqual({ ...version(1, 100, "loop"), history });
});

test("lists every version of every workflow", async () => {
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

test("lists the workflows without a definition, which may be gone", async () => {
  await open().create(version(2, 10_000, "archive"));
  await bucket.client.send(new DeleteObjectCommand({ Bucket: bucket.bucket, Key: "workflows/archive/hash-2.json" }));
  bucket.operations.length = 0;
  expect(await Array.fromAsync(open().ids())).toEqual(["archive", "invoice", "loop"]);
  expect(bucket.operations).toEqual([]);
  await expect(Array.fromAsync(open().everyVersion())).rejects.toThrow(/is not in the bucket any more/);
});

test("reads a version once", async () => {
  const store = open();
  await store.get("invoice", 1);
  table.operations.length = 0;
  expect(await store.get("invoice", 1)).toEqual(version(1));
  expect(table.operations).toEqual([]);
});

test("says what is stored now to whoever does not want to know what it remembers", async () => {
  const store = open();
  await store.create(version(1, 10_000, "stale"));
  await store.get("stale", 1);
  await bucket.client.send(new DeleteObjectCommand({ Bucket: bucket.bucket, Key: "workflows/stale/hash-1.json" }));
  expect(await store.get("stale", 1)).toEqual(version(1, 10_000, "stale"));
  await expect(store.stored("stale", 1)).rejects.toThrow(/is not in the bucket any more/);
  expect(await store.stored("stale", 2)).toBeUndefined();
});

describe("a definition over 8 KB", () => {
  test("lies in S3, and comes back whole", async () => {
    const large = version(20, 500_000);
    await open().create(large);
    const { Contents } = await bucket.client.send(new ListObjectsV2Command({ Bucket: bucket.bucket }));
    expect(Contents?.map(({ Key }) => Key)).toEqual(["workflows/invoice/hash-20.json"]);
    expect(await open().get("invoice", 20)).toEqual(large);
    expect(await open().latest("invoice")).toEqual(large);
  });

  test("that is gone says what to do", async () => {
    await open().create(version(21, 10_000));
    const key = { Bucket: bucket.bucket, Key: "workflows/invoice/hash-21.json" };
    await bucket.client.send(new DeleteObjectCommand(key));
    await expect(open().get("invoice", 21)).rejects.toThrow(/version 21 of workflow "invoice".*publish/);
  });
});
