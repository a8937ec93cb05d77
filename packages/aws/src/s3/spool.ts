import { createHash, randomUUID } from "node:crypto";
import { open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { BlobMismatch } from "@nova/engine";

/** A body that can be read several times. */
export interface Spool extends AsyncDisposable {
  body: Uint8Array | (() => Readable);
}

interface Expected {
  sha256: string;
  bytes: number;
}

const inMemoryBytes = 4 * 1024 * 1024;

/**
 * Buffers a body and checks its length and SHA-256. A stream can be read only once, but a request to S3 may need
 * several attempts. Bodies over 4 MiB go to a temporary file, so that they do not fill the heap.
 */
export async function spool(body: Uint8Array | AsyncIterable<Uint8Array>, expected: Expected): Promise<Spool> {
  if (body instanceof Uint8Array) return inMemory(await checkedBuffer([body], expected));
  if (expected.bytes <= inMemoryBytes) return inMemory(await checkedBuffer(body, expected));
  return inFile(body, expected);
}

function inMemory(bytes: Uint8Array): Spool {
  return { body: bytes, [Symbol.asyncDispose]: async () => undefined };
}

async function checkedBuffer(
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  expected: Expected,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of checkChunks(body, expected)) chunks.push(chunk);
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
}

/** The file is unlinked while it is in use, so that even a killed process leaves no file. */
async function inFile(body: AsyncIterable<Uint8Array>, expected: Expected): Promise<Spool> {
  const path = join(tmpdir(), `nova-${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  try {
    await unlink(path);
    for await (const chunk of checkChunks(body, expected)) await file.appendFile(chunk);
  } catch (error) {
    await file.close();
    throw error;
  }
  return {
    body: () => file.createReadStream({ start: 0, autoClose: false, highWaterMark: 256 * 1024 }),
    [Symbol.asyncDispose]: () => file.close(),
  };
}

/**
 * Passes chunks through. Throws `BlobMismatch` as soon as they are too long, and at the end if length or hash is wrong.
 */
export async function* checkChunks(
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { sha256, bytes }: Expected,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let seen = 0;
  for await (const chunk of body) {
    seen += chunk.length;
    if (seen > bytes) throw new BlobMismatch(`blob ${sha256} has more than the ${bytes} bytes announced`);
    hash.update(chunk);
    yield chunk;
  }
  if (seen < bytes) throw new BlobMismatch(`blob ${sha256} ended after ${seen} of ${bytes} bytes - send it again`);
  const actual = hash.digest("hex");
  if (actual !== sha256) throw new BlobMismatch(`blob ${sha256} has other contents (${actual}) - send it again`);
}
