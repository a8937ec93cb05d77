import { createHash } from "node:crypto";
import { BlobMissing, type BlobRef, type BlobType, type RunIo } from "@nova/engine";

/** The engine's side of a run, in memory. A test can make each of its functions fail. */
export class MemoryIo implements RunIo {
  readonly blobs = new Map<string, Buffer>();
  readonly results = new Map<string, string>();
  readonly served: string[] = [];
  readonly stored: string[] = [];
  largestChunkBytes = 0;
  failure: { openBlob?: Error; storeBlob?: Error } = {};

  /** Stores a blob and returns the text of its reference. */
  keep(content: string | Buffer, type: BlobType): string {
    const body = Buffer.from(content as string);
    const ref: BlobRef = { sha256: createHash("sha256").update(body).digest("hex"), bytes: body.length, type };
    this.blobs.set(ref.sha256, body);
    return JSON.stringify({ $blob: ref });
  }

  async openBlob({ sha256 }: BlobRef): Promise<AsyncIterable<Uint8Array>> {
    if (this.failure.openBlob) throw this.failure.openBlob;
    const body = this.blobs.get(sha256);
    if (!body) throw new BlobMissing(`blob ${sha256} was erased`);
    this.served.push(sha256);
    return inParts(body);
  }

  async storeBlob({ sha256, bytes }: BlobRef, body: AsyncIterable<Uint8Array>): Promise<void> {
    if (this.failure.storeBlob) throw this.failure.storeBlob;
    const parts: Uint8Array[] = [];
    for await (const part of body) {
      parts.push(part);
      this.largestChunkBytes = Math.max(this.largestChunkBytes, part.byteLength);
    }
    const whole = Buffer.concat(parts);
    if (whole.length !== bytes) throw new RangeError(`${sha256} has ${whole.length} bytes instead of ${bytes}`);
    this.blobs.set(sha256, whole);
    this.stored.push(sha256);
  }

  async outputs(node: string): Promise<string | null> {
    return this.results.get(node) ?? null;
  }

  async taskUrl(node: string): Promise<string | null> {
    return node === "wait" ? "https://nova.example.com/tasks/task_1?token=nova_rt_1" : null;
  }

  async outputNames(): Promise<string[]> {
    return Array.from(this.results.keys());
  }
}

async function* inParts(body: Buffer): AsyncIterable<Uint8Array> {
  for (let at = 0; at < body.length; at += 1 << 16) yield body.subarray(at, at + (1 << 16));
}
