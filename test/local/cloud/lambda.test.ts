import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { DiskSpace } from "../../../packages/aws-local/src/disk/disk-space.ts";
import type { LambdaResult } from "../../../packages/aws-local/src/lambda-types.ts";
import { Mails, pauseOnFullDisk } from "../../../packages/local/src/cloud/endpoints.ts";
import { handClock } from "../../aws-local/states/support/hand-clock.ts";

const noSpace: LambdaResult = { ok: false, errorType: "StoreUnavailable", errorMessage: "is full", trace: [] };
const full = Object.assign(new Error("no space left"), { code: "ENOSPC" });

it("the local Lambda repeats the invocation of a function that failed because the disk was full", async () => {
  const clock = handClock();
  const disk = new DiskSpace(tmpdir(), { clock });
  const results: LambdaResult[] = [noSpace, { ok: true, payload: "1" }];
  const invoke = pauseOnFullDisk(async () => {
    if (results.length === 2) disk.refusal(full);
    return results.shift() as LambdaResult;
  }, disk);
  const answer = invoke("arn", "{}");
  await new Promise(setImmediate);
  expect(results).toHaveLength(1);
  clock.pass(1);
  expect(await answer).toEqual({ ok: true, payload: "1" });
});

it("the local Lambda does not repeat a failed invocation if the disk is not full, or if the local cloud has stopped watching the disk", async () => {
  const disk = new DiskSpace(tmpdir(), { clock: handClock() });
  const invoke = pauseOnFullDisk(async () => noSpace, disk);
  expect(await invoke("arn", "{}")).toBe(noSpace);
  disk.refusal(full);
  const waiting = invoke("arn", "{}");
  disk.close();
  expect(await waiting).toBe(noSpace);
});

let dataDir: string;
let received: string[];
let records: object[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "nova-mails-"));
  [received, records] = [[], []];
});
afterEach(() => rm(dataDir, { recursive: true }));

const open = () =>
  new Mails({ dataDir, disk: new DiskSpace(dataDir) }, async (functionArn, payload) => {
    expect(functionArn).toMatch(/:nova-receive-mail:/);
    const [record] = JSON.parse(payload).Records;
    received.push(record.s3.object.key);
    records.push(record);
    return { ok: true, payload: "{}" };
  });

const put = (key: string) => ({ bucket: "nova", key, bytes: 1 });

it("the local cloud delivers all mails to its mail function once it is open, also earlier mails", async () => {
  const mails = open();
  mails.onCreated(put("mail/1"));
  mails.onCreated(put("blobs/1"));
  expect([received, mails.isBusy()]).toEqual([[], false]);
  mails.drive();
  mails.onCreated(put("mail/2"));
  await mails.rest();
  expect(received.sort()).toEqual(["mail/1", "mail/2"]);
  mails.close();
});

it("the local cloud delivers each mail exactly once, even if the process that accepted the mail was killed", async () => {
  // The first instance of `Mails` is never closed, as if its process had been killed.
  open().onCreated(put("mail/1"));
  for (const expected of [["mail/1"], ["mail/1"]]) {
    const next = open();
    next.drive();
    await next.rest();
    next.close();
    expect(received).toEqual(expected);
  }
});

it("the local cloud reports a new mail to its mail function in the format of S3 events", async () => {
  const mails = open();
  mails.drive();
  mails.onCreated({ bucket: "nova", key: "mail/a b+c", bytes: 7 });
  await mails.rest();
  const s3 = { bucket: { name: "nova" }, object: { key: "mail/a%20b%2Bc", size: 7 } };
  expect(records).toEqual([{ eventSource: "aws:s3", eventName: "ObjectCreated:Put", s3 }]);
  mails.close();
});
