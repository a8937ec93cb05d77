import { isKey, type Member, type StringSpan, stringsIn } from "@nova/workflow";
import type { BlobHome, BlobRef, BlobStore, BlobType } from "../ports/blobs.ts";
import { sha256 } from "../sha256.ts";
import { escapeReferences, referenceText } from "./references.ts";

/** A string leaf longer than this (UTF-8 bytes) becomes a blob; the harness in the sandbox uses the same two limits. */
export const leafLimitBytes = 4096;
/** A value whose JSON is still longer than this, its leaves aside, becomes a blob as a whole. */
export const valueLimitBytes = 8192;

type SaveBlob = (ref: BlobRef, body: Uint8Array) => Promise<void>;

/** Saves blobs of one execution. */
export function savingTo({ blobs }: { blobs: Pick<BlobStore, "put"> }, home: BlobHome): SaveBlob {
  return (ref, body) => blobs.put(home, ref, body);
}

/** JSON text that others sent, as a context of the execution keeps it. */
export function slimText(ports: { blobs: Pick<BlobStore, "put"> }, home: BlobHome, text: string): Promise<string> {
  return offloadLargeValues(escapeReferences(text), savingTo(ports, home));
}

export function offloadMembers(members: readonly Member[], save: SaveBlob): Promise<Member[]> {
  return Promise.all(members.map(async ({ key, json }) => ({ key, json: await offloadLargeValues(json, save) })));
}

/** A value's text, its large parts in blobs. Works on text: digits stay, and nothing is parsed. */
export async function offloadLargeValues(text: string, save: SaveBlob): Promise<string> {
  if (Buffer.byteLength(text) <= leafLimitBytes) return text;
  const parts: string[] = [];
  let kept = 0;
  for (const { start, end } of longLeaves(text)) {
    const leaf = JSON.parse(text.slice(start, end)) as string;
    // Half a character has no UTF-8: such a text stays JSON, which can escape it.
    if (Buffer.byteLength(leaf) <= leafLimitBytes || !leaf.isWellFormed()) continue;
    parts.push(text.slice(kept, start), await store(leaf, "text", save));
    kept = end;
  }
  const slim = parts.join("") + text.slice(kept);
  return Buffer.byteLength(slim) > valueLimitBytes ? store(slim, "json", save) : slim;
}

/**
 * An object's text, as a whole in a blob where it is large: then others can read the same blob as the text that it was.
 */
export async function offloadWhole(text: string, save: SaveBlob): Promise<string> {
  return Buffer.byteLength(text) > valueLimitBytes ? store(text, "json", save) : text;
}

/** Strings of a valid JSON text that are values and may exceed the limit: a character is at most 3 bytes of UTF-8. */
function* longLeaves(text: string): Iterable<StringSpan> {
  for (const span of stringsIn(text)) {
    if ((span.end - span.start) * 3 > leafLimitBytes && !isKey(text, span)) yield span;
  }
}

/** Saves a blob; answers the text of its reference. */
async function store(text: string, type: BlobType, save: SaveBlob): Promise<string> {
  const body = Buffer.from(text);
  const ref = { sha256: sha256(body), bytes: body.length, type };
  await save(ref, body);
  return referenceText(ref);
}
