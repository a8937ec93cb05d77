import type { BlobRef } from "../ports/blobs.ts";
import { asReference, blobKey, referenceKey } from "./references.ts";

/** A reference in JSON text. It is an object: inside of a string its quotes have backslashes. */
const written = /\{\s*"\$blob"\s*:\s*(\{[^{}]*\})\s*\}/g;
/** Longer than any reference that NOVA or its harness writes: what is kept of one chunk for one that spans two. */
const overlap = 400;

/** Finds the references in a JSON text that passes by in chunks, however long it is. */
export class ReferenceScan {
  readonly #found = new Map<string, BlobRef>();
  #tail = "";

  look(chunk: Uint8Array): void {
    // References are ASCII; as Latin-1 a character that is cut in two does no harm.
    const text = this.#tail + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1");
    for (const [, inner = ""] of text.matchAll(written)) {
      const ref = asReference({ [blobKey]: parsed(inner) });
      if (ref) this.#found.set(referenceKey(ref), ref);
    }
    this.#tail = text.slice(-overlap);
  }

  get found(): BlobRef[] {
    return Array.from(this.#found.values());
  }
}

/** What earlier releases took for JSON may be none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
