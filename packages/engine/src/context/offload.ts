import { isKey, type Member, type StringSpan, stringsIn } from "@nova/workflow";
import type { BlobHome, BlobRef, BlobStore, BlobType } from "../ports/blobs.ts";
import { sha256 } from "../sha256.ts";
import { escapeReferences, referenceText } from "./references.ts";

/** A string leaf longer than this (UTF-8 bytes) becomes a blob. The harness in the sandbox uses the same two limits. */
export const leafLimitBytes = 4096;
/** A value whose JSON is longer than this after moving its leaves becomes a blob as a whole. */
export const valueLimitBytes = 8192;

type SaveBlob = (ref: BlobRef, body: Uint8Array) => Promise<void>;

/** Saves blobs of one execution. */
export function savingTo({ blobs }: { blobs: Pick<BlobStore, "put"> }, home: BlobHome): SaveBlob {
  return (ref, body) => blobs.put(home, ref, body);
}

/** Prepares JSON text from a client for a context: escapes references and moves large values to blobs. */
export function slimText(ports: { blobs: Pick<BlobStore, "put"> }, home: BlobHome, text: string): Promise<string> {
  return offloadLargeValues(escapeReferences(text), savingTo(ports, home));
}

export function offloadMembers(members: readonly Member[], save: SaveBlob): Promise<Member[]> {
  return Promise.all(members.map(async ({ key, json }) => ({ key, json: await offloadLargeValues(json, save) })));
}

/** Moves large parts of a value to blobs. It works on text, which keeps the digits of numbers. */
export async function offloadLargeValues(text: string, save: SaveBlob): Promise<string> {
  if (Buffer.byteLength(text) <= leafLimitBytes) return text;
  const parts: string[] = [];
  let kept = 0;
  for (const { start, end } of longLeaves(text)) {
    const leaf = JSON.parse(text.slice(start, end)) as string;
    // Half a surrogate pair has no UTF-8. Such a text stays JSON, which can escape it.
    if (Buffer.byteLength(leaf) <= leafLimitBytes || !leaf.isWellFormed()) continue;
    parts.push(text.slice(kept, start), await store(leaf, "text", save));
    kept = end;
  }
  const slim = parts.join("") + text.slice(kept);
  return Buffer.byteLength(slim) > valueLimitBytes ? store(slim, "json", save) : slim;
}

/** Moves a large object to a blob as a whole, so that other readers find exactly its text there. */
export async function offloadWhole(text: string, save: SaveBlob): Promise<string> {
  return Buffer.byteLength(text) > valueLimitBytes ? store(text, "json", save) : text;
}

/** Strings of a valid JSON text that are values and may exceed the limit. A character has at most 3 bytes of UTF-8. */
function* longLeaves(text: string): Iterable<StringSpan> {
  for (const span of stringsIn(text)) {
    if ((span.end - span.start) * 3 > leafLimitBytes && !isKey(text, span)) yield span;
  }
}

/** Saves a blob and returns the text of its reference. */
async function store(text: string, type: BlobType, save: SaveBlob): Promise<string> {
  const body = Buffer.from(text);
  const ref = { sha256: sha256(body), bytes: body.length, type };
  await save(ref, body);
  return referenceText(ref);
}
