import { createHash } from "node:crypto";
import type { Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import { type BlobRef, NotStrictJson, StrictJson, Utf8Check } from "@nova/engine";
import { MalformedAnswer } from "./failures.ts";
import { root, type SandboxFile } from "./harness.ts";

/** Files in and out of a sandbox, as root. Large ones stream: their bytes cross this process, not its heap. */

export async function writeText(sandbox: E2bSandbox, path: string, text: string, signal: AbortSignal): Promise<void> {
  await sandbox.files.write(`${root}/${path}`, text, { user: "root", useOctetStream: true, signal });
}

export async function writeFiles(sandbox: E2bSandbox, files: SandboxFile[]): Promise<void> {
  const isOne = files.length === 1; // one by one it sends raw bytes, several it sends as one form
  await sandbox.files.writeFiles(files, { user: "root", useOctetStream: isOne });
}

/**
 * However the transfer ends, its source ends with it. The SDK forgets a body that it has not begun to read, or whose
 * request was answered before its end; and a generator that has not begun ends nothing, so it begins at once.
 */
export async function writeStream(
  sandbox: E2bSandbox,
  path: string,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const source = body[Symbol.asyncIterator]();
  let first: ReturnType<typeof source.next> | undefined = source.next();
  first.catch(() => undefined); // whoever reads it sees why
  const next = () => {
    const chunk = first ?? source.next();
    first = undefined;
    return chunk;
  };
  const stream = ReadableStream.from({ [Symbol.asyncIterator]: () => ({ next }) }) as ReadableStream;
  try {
    await sandbox.files.write(`${root}/${path}`, stream, { user: "root", useOctetStream: true, signal });
  } finally {
    source.return?.().catch(() => undefined);
  }
}

export async function readStream(
  sandbox: E2bSandbox,
  path: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  return sandbox.files.read(`${root}/${path}`, { user: "root", format: "stream", signal });
}

/** What grows while it is read is not read to its end: `most` bytes are all that there may be. */
export async function readBytes(sandbox: E2bSandbox, path: string, most: number, signal: AbortSignal): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let read = 0;
  for await (const part of await readStream(sandbox, path, signal)) {
    read += part.byteLength;
    if (read > most) throw new MalformedAnswer(`${path} is longer than ${most} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** What the code's process left is not what it said it was. */
export class DamagedBlob extends Error {
  override name = "DamagedBlob";
}

/** Passes the bytes through, and fails when they are not what the reference says: at their end, or before. */
export async function* checked(ref: BlobRef, body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const hash = createHash("sha256");
  const content = ref.type === "json" ? new StrictJson() : ref.type === "text" ? new Utf8Check() : undefined;
  const damaged = (what: string) =>
    new DamagedBlob(`the value ${ref.sha256} ${what} - leave the harness's files alone`);
  const demand = (fits: unknown) => {
    if (fits === false) throw damaged("says to be a text and is not UTF-8");
  };
  let bytes = 0;
  try {
    for await (const chunk of body) {
      hash.update(chunk);
      bytes += chunk.byteLength;
      if (bytes > ref.bytes) break;
      demand(content?.look(chunk));
      yield chunk;
    }
    if (bytes <= ref.bytes) demand(content?.end());
  } catch (error) {
    throw error instanceof NotStrictJson ? damaged(`says to be JSON and ${error.message}`) : error;
  }
  if (bytes !== ref.bytes || hash.digest("hex") !== ref.sha256) throw damaged("changed after the code had ended");
}

/** Passes the bytes through, and remembers an error of their source: whoever consumes them may hide it. */
export class Watched implements AsyncIterable<Uint8Array> {
  readonly #body: AsyncIterable<Uint8Array>;
  failure: unknown;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#body = body;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#body;
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}
