import { createHash } from "node:crypto";
import type { Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import { type BlobRef, NotStrictJson, StrictJson, Utf8Check } from "@nova/engine";
import { MalformedAnswer } from "./failures.ts";
import { root, type SandboxFile } from "./harness.ts";

// These functions access files of a sandbox as root. Large files are streamed, so that they do not fill the heap.

export async function writeText(sandbox: E2bSandbox, path: string, text: string, signal: AbortSignal): Promise<void> {
  await sandbox.files.write(`${root}/${path}`, text, { user: "root", useOctetStream: true, signal });
}

export async function writeFiles(sandbox: E2bSandbox, files: SandboxFile[]): Promise<void> {
  const isOne = files.length === 1; // The SDK sends one file as raw bytes, and several files as one form.
  await sandbox.files.writeFiles(files, { user: "root", useOctetStream: isOne });
}

/**
 * Writes a stream to a file, and always ends the source. The SDK itself does not end the body of an upload if it has
 * not begun to read the body, or if the answer arrives early. A generator that has not started runs no cleanup, so this
 * function reads the first chunk immediately.
 */
export async function writeStream(
  sandbox: E2bSandbox,
  path: string,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const source = body[Symbol.asyncIterator]();
  let first: ReturnType<typeof source.next> | undefined = source.next();
  first.catch(() => undefined); // The reader of the body reports this error.
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

export async function readStream(sandbox: E2bSandbox, path: string, signal: AbortSignal) {
  return sandbox.files.read(`${root}/${path}`, { user: "root", format: "stream", signal });
}

/** Reads a file of at most `maxBytes`. The limit also stops the reading of a file that grows meanwhile. */
export async function readBytes(sandbox: E2bSandbox, path: string, maxBytes: number, signal: AbortSignal) {
  const parts: Uint8Array[] = [];
  let read = 0;
  for await (const part of await readStream(sandbox, path, signal)) {
    read += part.byteLength;
    if (read > maxBytes) throw new MalformedAnswer(`${path} is longer than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Thrown if a blob of the code's process differs from its reference. */
export class DamagedBlob extends Error {
  override name = "DamagedBlob";
}

/** Passes the bytes through. Throws `DamagedBlob` if they differ from the reference in length, hash or type. */
export async function* checkBlob(ref: BlobRef, body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
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

/** Passes the bytes through and remembers an error of their source, which the consumer may hide. */
export class WatchedBody implements AsyncIterable<Uint8Array> {
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
