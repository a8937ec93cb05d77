import { type ExactValue, isRawNumber, parsedOrNot, parseExact, RawJson } from "@nova/workflow";
import type { BlobRef, BlobType } from "../ports/blobs.ts";

/** The key that marks a reference inside a value. User data with this key (or an escaped one) gets one `$` more. */
export const blobKey = "$blob";

const types: readonly string[] = ["bytes", "text", "json"] satisfies BlobType[];

export function referenceText(ref: BlobRef): string {
  return JSON.stringify({ [blobKey]: { sha256: ref.sha256, bytes: ref.bytes, type: ref.type } });
}

/** Identifies a reference with all its fields: a blob that is known as bytes is not known as JSON. */
export function referenceKey({ sha256, bytes, type }: BlobRef): string {
  return `${sha256} ${bytes} ${type}`;
}

/** All references inside a value's text. A text without the marker costs only a substring search. */
export function referencesIn(text: string): BlobRef[] {
  if (!text.includes(`"${blobKey}"`)) return [];
  const found: BlobRef[] = [];
  const visit = (value: unknown): void => {
    if (value === null || typeof value !== "object") return;
    const ref = asReference(value);
    if (ref) found.push(ref);
    else for (const child of Object.values(value)) visit(child);
  };
  visit(JSON.parse(text));
  return found;
}

/** The reference, if this object is exactly one. */
export function asReference(value: object): BlobRef | undefined {
  const keys = Object.keys(value);
  if (keys.length !== 1 || keys[0] !== blobKey) return undefined;
  const inner = (value as Record<string, unknown>)[blobKey] as Partial<BlobRef> | null;
  if (inner === null || typeof inner !== "object") return undefined;
  const { sha256, bytes, type } = inner;
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256)) return undefined;
  if (typeof bytes !== "number" || !types.includes(type as string)) return undefined;
  return { sha256, bytes, type: type as BlobType };
}

/** Escapes user data: every key `$blob`, `$$blob`, ... gets one `$` more, so that it cannot pass for a reference. */
export function escapeReferences(text: string): string {
  // A key may be written with escapes, as in "\u0024blob".
  if (!text.includes(`$blob"`) && !/\\u00(24|62|6c|6f)/i.test(text)) return text;
  let found = false;
  const escaped = (key: string) => {
    if (!/^\$+blob$/.test(key)) return key;
    found = true;
    return `$${key}`;
  };
  const value = withKeys(parseExact(text), escaped);
  return found ? JSON.stringify(value) : text;
}

/** Renames the keys of a value, except in objects for which `stays` is true. */
function withKeys(
  value: ExactValue,
  renamed: (key: string) => string,
  stays = (_: object): boolean => false,
): ExactValue {
  if (value === null || typeof value !== "object" || isRawNumber(value)) return value;
  if (Array.isArray(value)) return value.map((item) => withKeys(item, renamed, stays));
  if (stays(value)) return value;
  const members = Object.entries(value).map(([key, child]) => [renamed(key), withKeys(child, renamed, stays)]);
  return Object.fromEntries(members);
}

/** Restores escaped keys for readers, unless the result would look like a reference. */
export function asWritten<T>(value: T): T {
  if (value instanceof RawJson) return new RawJson(writtenText(value.text)) as T;
  if (Array.isArray(value)) return value.map(asWritten) as T;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, asWritten(child)])) as T;
}

function writtenText(text: string): string {
  if (!text.includes(`$${blobKey}"`)) return text;
  const plain = (key: string) => (/^\$\$+blob$/.test(key) ? key.slice(1) : key);
  return JSON.stringify(withKeys(parseExact(text), plain, looksLikeReference));
}

function looksLikeReference(value: object): boolean {
  const [[only, inner] = [""], second] = Object.entries(value);
  if (!/^\$+blob$/.test(only) || second !== undefined) return false;
  // Numbers of a reference are not user data, so they need not keep their digits.
  return asReference(JSON.parse(JSON.stringify({ [blobKey]: inner }))) !== undefined;
}

/** Matches a reference in JSON text. Inside a string the quotes would have backslashes. */
const written = /\{\s*"\$blob"\s*:\s*(\{[^{}]*\})\s*\}/g;
/**
 * The number of characters kept from a chunk for a reference that spans two. It exceeds the length of any reference
 * that NOVA or its harness writes.
 */
const overlap = 400;

/** Finds the references in a JSON text of any length that arrives in chunks. */
export class ReferenceScan {
  readonly #found = new Map<string, BlobRef>();
  #tail = "";

  look(chunk: Uint8Array): void {
    // References are ASCII. In Latin-1 a character that is cut in two does no harm.
    const text = this.#tail + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1");
    for (const [, inner = ""] of text.matchAll(written)) {
      // The match may not be valid JSON.
      const ref = asReference({ [blobKey]: parsedOrNot(inner) });
      if (ref) this.#found.set(referenceKey(ref), ref);
    }
    this.#tail = text.slice(-overlap);
  }

  get found(): BlobRef[] {
    return Array.from(this.#found.values());
  }
}
