import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { DiskSpace } from "../../../packages/aws-local/src/disk/disk-space.ts";
import type { LambdaResult } from "../../../packages/aws-local/src/lambda-types.ts";
import { pauseOnFullDisk } from "../../../packages/local/src/cloud/lambda.ts";
import { handClock } from "../../aws-local/states/support/hand-clock.ts";

const noSpace: LambdaResult = { ok: false, errorType: "StoreUnavailable", errorMessage: "is full", trace: [] };
const full = Object.assign(new Error("no space left"), { code: "ENOSPC" });

it("invokes a function again if it failed because the disk was full", async () => {
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

it("returns failures with another cause, and failures after the disk was closed", async () => {
  const disk = new DiskSpace(tmpdir(), { clock: handClock() });
  const invoke = pauseOnFullDisk(async () => noSpace, disk);
  expect(await invoke("arn", "{}")).toBe(noSpace);
  disk.refusal(full);
  const waiting = invoke("arn", "{}");
  disk.close();
  expect(await waiting).toBe(noSpace);
});
