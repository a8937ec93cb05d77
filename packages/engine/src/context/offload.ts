import { type ExactValue, isRawNumber, parseExact } from "../json/exact.ts";
import { sha256 } from "../json/hash.ts";
import type { BlobRef, BlobType } from "../ports/blobs.ts";
import { referenceText } from "./references.ts";

/** A string leaf longer than this (UTF-8 bytes) becomes a blob; the harness in the sandbox uses the same two limits. */
export const leafLimitBytes = 4096;
/** A value whose JSON is still longer than this, its leaves aside, becomes a blob as a whole. */
export const valueLimitBytes = 8192;

export type SaveBlob = (ref: BlobRef, body: Uint8Array) => Promise<void>;

/** A value's text with everything large in it moved to blobs. What is small comes back as it is, digit for digit. */
export async function offloadLargeValues(text: string, save: SaveBlob): Promise<string> {
  if (Buffer.byteLength(text) <= leafLimitBytes) return text;
  const visit = async (value: ExactValue): Promise<unknown> => {
    if (typeof value === "string")
      return Buffer.byteLength(value) > leafLimitBytes ? store(value, "text", save) : value;
    if (value === null || typeof value !== "object" || isRawNumber(value)) return value;
    if (Array.isArray(value)) return Promise.all(value.map(visit));
    return Object.fromEntries(await Promise.all(Object.entries(value).map(async ([k, v]) => [k, await visit(v)])));
  };
  const slim = JSON.stringify(await visit(parseExact(text)));
  return Buffer.byteLength(slim) > valueLimitBytes ? JSON.stringify(await store(slim, "json", save)) : slim;
}

async function store(text: string, type: BlobType, save: SaveBlob): Promise<unknown> {
  const body = Buffer.from(text);
  const ref = { sha256: sha256(body), bytes: body.length, type };
  await save(ref, body);
  return JSON.parse(referenceText(ref));
}
