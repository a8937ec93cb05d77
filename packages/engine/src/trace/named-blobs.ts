import { createHash } from "node:crypto";
import { ReferenceScan } from "../context/references.ts";
import type { BlobHome, BlobRef, BlobStore } from "../ports/blobs.ts";

/** A blob that is named by hash. `place` says where, in words for people; `key` is the key of the context. */
export interface NamedBlob {
  place: string;
  key?: string;
  ref: Pick<BlobRef, "sha256"> & { type?: BlobRef["type"] };
  /** The length that is stored next to the hash without being hashed itself. */
  bytes?: number;
}

/** The fault of a blob. */
export interface BadBlob {
  message: string;
  key?: string;
  blob: string;
}

/** The number of parallel reads, each one chunk at a time. A blob in S3 takes long to start and little time to read. */
const readsAtOnce = 16;

/** Reads each blob that a chain names once, as a stream, and compares it with its hash. */
export class NamedBlobs {
  readonly #blobs: BlobStore;
  readonly #read = new Set<string>();
  /** Lengths of the blobs that are sound. */
  readonly #lengths = new Map<string, number>();

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  /** The first of these blobs, or of blobs that they name, that is missing or was changed. */
  async firstBad(home: BlobHome, named: Iterable<NamedBlob>): Promise<BadBlob | undefined> {
    const waiting = Array.from(named);
    while (waiting.length > 0) {
      const batch = waiting.splice(0, readsAtOnce);
      const unread = batch.filter((blob) => this.#isNew(home, blob));
      const looks = await Promise.all(unread.map((blob) => this.#look(home, blob)));
      for (const { bad, inside } of looks) {
        if (bad) return bad;
        for (const blob of inside) waiting.push(blob);
      }
      const misfit = batch.find((blob) => this.#hasOtherLength(home, blob));
      if (misfit) return badBlob(misfit, otherLength);
    }
    return undefined;
  }

  /** The text of a blob that is part of the chain itself; null if it was read before. */
  async text(home: BlobHome, blob: NamedBlob): Promise<{ text: string | null } | { bad: BadBlob }> {
    const chunks: Uint8Array[] = [];
    const isNew = this.#isNew(home, blob);
    const bad = isNew ? await this.#compare(home, blob, (chunk) => chunks.push(chunk)) : undefined;
    if (bad) return { bad };
    if (this.#hasOtherLength(home, blob)) return { bad: badBlob(blob, otherLength) };
    return { text: isNew ? Buffer.concat(chunks).toString() : null };
  }

  async #look(home: BlobHome, blob: NamedBlob): Promise<{ bad?: BadBlob; inside: NamedBlob[] }> {
    const scan = blob.ref.type === "json" ? new ReferenceScan() : undefined;
    const bad = await this.#compare(home, blob, (chunk) => scan?.look(chunk));
    return bad ? { bad, inside: [] } : { inside: (scan?.found ?? []).map((ref) => ({ ...blob, ref })) };
  }

  async #compare(home: BlobHome, blob: NamedBlob, look: (chunk: Uint8Array) => void): Promise<BadBlob | undefined> {
    const { sha256 } = blob.ref;
    const hash = createHash("sha256");
    let bytes = 0;
    const changed = "was changed: its bytes have another SHA-256";
    try {
      for await (const chunk of await this.#blobs.stream(home, sha256)) {
        hash.update(chunk);
        bytes += chunk.length;
        look(chunk);
      }
    } catch (error) {
      const name = error instanceof Error ? error.name : "";
      if (name === "BlobMissing") return badBlob(blob, "is missing");
      if (name === "BlobMismatch") return badBlob(blob, changed);
      throw error;
    }
    this.#lengths.set(keyOf(home, sha256), bytes);
    return hash.digest("hex") === sha256 ? undefined : badBlob(blob, changed);
  }

  #hasOtherLength(home: BlobHome, { ref: { sha256 }, bytes }: NamedBlob): boolean {
    return bytes !== undefined && this.#lengths.get(keyOf(home, sha256)) !== bytes;
  }

  /** The chain may name a blob as JSON and as bytes; only as JSON does it name other blobs. */
  #isNew(home: BlobHome, { ref: { sha256, type = "bytes" } }: NamedBlob): boolean {
    const key = `${keyOf(home, sha256)} ${type === "json"}`;
    return !this.#read.has(key) && this.#read.add(key) !== undefined;
  }
}

function keyOf({ client, root }: BlobHome, sha256: string): string {
  return `${client}/${root}/${sha256}`;
}

const otherLength = "has another length than is said beside its hash";

function badBlob({ place, key, ref: { sha256 } }: NamedBlob, what: string): BadBlob {
  return { message: `${place}: blob ${sha256} ${what}`, ...(key !== undefined && { key }), blob: sha256 };
}
