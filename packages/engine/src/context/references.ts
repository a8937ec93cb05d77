import { type ExactValue, isRawNumber, parsedOrNot, parseExact, RawJson } from "@nova/workflow";
import type { BlobRef, BlobType } from "../ports/blobs.ts";

/** The key that marks a reference inside a value; user data that has it (or an escaped one) carries one `$` more. */
export const blobKey = "$blob";

const types: readonly string[] = ["bytes", "text", "json"] satisfies BlobType[];

export function referenceText(ref: BlobRef): string {
  return JSON.stringify({ [blobKey]: { sha256: ref.sha256, bytes: ref.bytes, type: ref.type } });
}

/** What a reference says, whole: a blob that is known as bytes is not known as JSON. */
export function referenceKey({ sha256, bytes, type }: BlobRef): string {
  return `${sha256} ${bytes} ${type}`;
}

/** All references inside a value's text. Text without the marker costs a substring search. */
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

/** A reference, when this object is exactly one. */
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

/** The value with other keys, but for objects that stay as they are. */
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

/** Values for readers: escaped keys as their owner wrote them, unless they would look like a reference. */
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
  // Numbers of a reference are no user's: they need not keep their digits.
  return asReference(JSON.parse(JSON.stringify({ [blobKey]: inner }))) !== undefined;
}

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
      // What earlier releases took for JSON may be none.
      const ref = asReference({ [blobKey]: parsedOrNot(inner) });
      if (ref) this.#found.set(referenceKey(ref), ref);
    }
    this.#tail = text.slice(-overlap);
  }

  get found(): BlobRef[] {
    return Array.from(this.#found.values());
  }
}
