import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { Room } from "../../../packages/aws-local/src/disk/room.ts";
import type { LambdaResult } from "../../../packages/aws-local/src/lambda-types.ts";
import { whenThereIsRoom } from "../../../packages/local/src/cloud/lambda.ts";
import { handClock } from "../../aws-local/states/support/hand-clock.ts";

const noRoom: LambdaResult = { ok: false, errorType: "StoreUnavailable", errorMessage: "is full", trace: [] };
const full = Object.assign(new Error("no space left"), { code: "ENOSPC" });

it("invokes a function again that failed while the disk was full, once there is room", async () => {
  const clock = handClock();
  const room = new Room(tmpdir(), { clock });
  const results: LambdaResult[] = [noRoom, { ok: true, payload: "1" }];
  const invoke = whenThereIsRoom(async () => {
    if (results.length === 2) room.refusal(full);
    return results.shift() as LambdaResult;
  }, room);
  const answer = invoke("arn", "{}");
  await new Promise(setImmediate);
  expect(results).toHaveLength(1);
  clock.pass(1);
  expect(await answer).toEqual({ ok: true, payload: "1" });
});

it("hands on what failed for another reason, and what nobody waits for any more", async () => {
  const room = new Room(tmpdir(), { clock: handClock() });
  const invoke = whenThereIsRoom(async () => noRoom, room);
  expect(await invoke("arn", "{}")).toBe(noRoom);
  room.refusal(full);
  const waiting = invoke("arn", "{}");
  room.close();
  expect(await waiting).toBe(noRoom);
});
