import { createHash } from "node:crypto";
import type { Sandbox } from "@e2b/code-interpreter";
import type { BlobRef } from "@nova/engine";
import { expect, test } from "vitest";
import { checkBlob, WatchedBody, writeStream } from "../../packages/sandbox/src/transfer.ts";

const body = Buffer.from("content");
const ref: BlobRef = { sha256: createHash("sha256").update(body).digest("hex"), bytes: body.length, type: "bytes" };

async function* parts(...all: (Uint8Array | Error)[]): AsyncIterable<Uint8Array> {
  for (const part of all) {
    if (part instanceof Error) throw part;
    yield part;
  }
}

test("checkBlob returns the bytes of a blob that matches its reference", async () => {
  const read = await Array.fromAsync(checkBlob(ref, parts(body.subarray(0, 3), body.subarray(3))));
  expect(Buffer.concat(read)).toEqual(body);
});

test.each([
  ["is shorter than its reference", body.subarray(1)],
  ["is longer than its reference", Buffer.from("content!")],
  ["has another hash", Buffer.from("c0ntent")],
])("checkBlob throws at the end of a blob that %s", async (_, other) => {
  await expect(Array.fromAsync(checkBlob(ref, parts(other)))).rejects.toMatchObject({ name: "DamagedBlob" });
});

test("a WatchedBody remembers an error of its source, even if the reader of the body hides this error", async () => {
  const failure = new RangeError("connection lost");
  const watched = new WatchedBody(parts(body, failure));
  await expect(Array.fromAsync(watched)).rejects.toBe(failure);
  expect(watched.failure).toBe(failure);
});

test.each<[string, (stream: ReadableStream) => Promise<unknown>]>([
  ["refused before it starts", async () => Promise.reject(new RangeError("aborted"))],
  ["answered before it ends", (stream) => stream.getReader().read()],
])("writeStream closes the source of an upload that is %s", async (_, write) => {
  const ended = Promise.withResolvers<void>();
  async function* source() {
    try {
      while (true) yield body;
    } finally {
      ended.resolve();
    }
  }
  const sandbox = { files: { write: (_path: string, stream: ReadableStream) => write(stream) } } as unknown as Sandbox;
  const upload = writeStream(sandbox, "file", new WatchedBody(source()), new AbortController().signal);
  await Promise.allSettled([upload]);
  await ended.promise;
});
