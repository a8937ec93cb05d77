import type { RunIo } from "@nova/engine";
import { expect, it } from "vitest";
import { Follow } from "../../../packages/engine/src/attempt/code.ts";

const ref = { sha256: "0".repeat(64), bytes: 2, type: "bytes" } as const;

async function* halves(): AsyncIterable<Uint8Array> {
  yield Buffer.from("a");
  yield Buffer.from("b");
}

const io: RunIo = {
  openBlob: async () => halves(),
  storeBlob: async (_, body) => {
    for await (const _chunk of body);
  },
  outputs: async () => null,
  outputNames: async () => [],
  taskUrl: async () => null,
};

function following() {
  const [lambda, time] = [new AbortController(), new AbortController()];
  const follow = new Follow(lambda.signal, () => time.signal);
  return { lambda, time, follow, io: follow.watch(io) };
}

it("ends when its time is over, or the Lambda's", () => {
  const one = following();
  expect(one.follow.signal.aborted).toBe(false);
  one.time.abort();
  expect(one.follow.signal.aborted).toBe(true);
  const other = following();
  other.lambda.abort();
  expect(other.follow.signal.aborted).toBe(true);
});

it("waits for a value that is on its way to the code", async () => {
  const { time, follow, io: watched } = following();
  const body = (await watched.openBlob(ref))[Symbol.asyncIterator]();
  await body.next();
  time.abort();
  expect(follow.signal.aborted).toBe(false);
  await body.next();
  expect(follow.signal.aborted).toBe(false);
  await body.next();
  expect(follow.signal.aborted).toBe(true);
});

it("waits for a value that is on its way from the code, even where storing it fails", async () => {
  const { time, follow, io: watched } = following();
  const failing = async function* () {
    yield Buffer.from("a");
    time.abort();
    expect(follow.signal.aborted).toBe(false);
    throw new Error("the connection broke");
  };
  await expect(watched.storeBlob(ref, failing())).rejects.toThrow("broke");
  expect(follow.signal.aborted).toBe(true);
});
