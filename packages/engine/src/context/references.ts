import {
  type ExactValue,
  isKey,
  isRawNumber,
  type Member,
  memberOf,
  parsedOrNot,
  parseExact,
  RawJson,
  type StringSpan,
  stringsIn,
} from "@nova/workflow";
import { recoverFrom } from "../errors.ts";
import type { BlobHome, BlobRef, BlobStore, BlobType } from "../ports/blobs.ts";
import { sha256 } from "../sha256.ts";
import type { Context } from "./context.ts";

/**
 * An object with only this key is a reference. In user data, NOVA adds one `$` to this key and to its escaped forms.
 */
export const blobKey = "$blob";

const types: readonly string[] = ["bytes", "text", "json"] satisfies BlobType[];

export function referenceText(ref: BlobRef): string {
  return JSON.stringify({ [blobKey]: { sha256: ref.sha256, bytes: ref.bytes, type: ref.type } });
}

/**
 * Returns a text that identifies a reference by all its fields. So a JSON blob and a bytes blob with the same bytes get
 * different texts.
 */
export function referenceKey({ sha256, bytes, type }: BlobRef): string {
  return `${sha256} ${bytes} ${type}`;
}

/** Returns all references inside a value's text. A text without `$blob` is not parsed. */
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

/** Returns an object as a reference; undefined if the object is not exactly a reference. */
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

/**
 * Escapes user data: each key `$blob`, `$$blob` and so on gets one `$` more, so that user data never looks like a
 * reference.
 */
export function escapeReferences(text: string): string {
  // A key in JSON text may be written with escapes, as in "\u0024blob", so this condition also looks for such escapes.
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

/** Renames the keys of a value at any depth, except inside objects for which `stays` returns true. */
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

/**
 * Removes the additional `$` of escaped keys for readers. An object stays escaped if it would look like a reference.
 */
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
  // Each number in `inner` is an object that keeps all digits. `JSON.parse` makes it a plain number, which is exact
  // enough for a reference.
  return asReference(JSON.parse(JSON.stringify({ [blobKey]: inner }))) !== undefined;
}

/** Matches a reference in JSON text. It does not match inside a string, where the quotes have backslashes. */
const written = /\{\s*"\$blob"\s*:\s*(\{[^{}]*\})\s*\}/g;
/**
 * The number of characters at the end of a chunk that are searched again with the next chunk, because a reference can
 * span two chunks. No reference that NOVA or its harness writes is longer.
 */
const overlap = 400;

/** Finds the references in a JSON text of any length that arrives in chunks. */
export class ReferenceScan {
  readonly #found = new Map<string, BlobRef>();
  #tail = "";

  look(chunk: Uint8Array): void {
    // Latin-1 keeps each byte as one character. So a UTF-8 character that spans two chunks cannot break a reference,
    // which is ASCII.
    const text = this.#tail + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1");
    for (const [, inner = ""] of text.matchAll(written)) {
      // This text may be invalid JSON if the blob was changed. The check of the blob's hash reports that later.
      const ref = asReference({ [blobKey]: parsedOrNot(inner) });
      if (ref) this.#found.set(referenceKey(ref), ref);
    }
    this.#tail = text.slice(-overlap);
  }

  get found(): BlobRef[] {
    return Array.from(this.#found.values());
  }
}

/**
 * A leaf (a string inside a value) of more bytes in UTF-8 than this becomes a blob. The harness in the sandbox has the
 * same limit.
 */
export const leafLimitBytes = 4096;
/**
 * The maximum length of a value as JSON after its large leaves became blobs. A longer value becomes a blob as a whole.
 * The harness in the sandbox has the same limit.
 */
export const valueLimitBytes = 8192;

type SaveBlob = (ref: BlobRef, body: Uint8Array) => Promise<void>;

/** Returns a function that saves blobs of one execution. */
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
    // A text with half a surrogate pair cannot be stored as UTF-8. Such a text stays in the JSON, which can escape it.
    if (Buffer.byteLength(leaf) <= leafLimitBytes || !leaf.isWellFormed()) continue;
    parts.push(text.slice(kept, start), await store(leaf, "text", save));
    kept = end;
  }
  const slim = parts.join("") + text.slice(kept);
  return Buffer.byteLength(slim) > valueLimitBytes ? store(slim, "json", save) : slim;
}

/**
 * Stores a large object as one blob without moving its leaves, so that other readers of the blob find exactly this
 * text.
 */
export async function offloadWhole(text: string, save: SaveBlob): Promise<string> {
  return Buffer.byteLength(text) > valueLimitBytes ? store(text, "json", save) : text;
}

/**
 * Yields the strings of a valid JSON text that are values, not keys, and that may exceed the limit. A character has at
 * most 3 bytes of UTF-8.
 */
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

/** The store that has the blobs of a value, and the client and execution to which these blobs belong. */
export interface ValueSource {
  home: BlobHome;
  blobs: BlobStore;
}

/**
 * Returns the JSON text of a key's value with the contents of its blobs; null if the text exceeds `maxBytes` or the key
 * is missing.
 */
export async function wholeValue(input: Context, key: string, maxBytes: number, source: ValueSource) {
  const slot = input.slot(key);
  return slot ? wholeJson(slot.json, maxBytes, source) : null;
}

/** Returns the JSON text of a value with the contents of its blobs; null if the text exceeds `maxBytes`. */
export async function wholeJson(json: string, maxBytes: number, { home, blobs }: ValueSource): Promise<string | null> {
  let left = maxBytes;
  const taken = (text: string): string => {
    left -= Buffer.byteLength(text);
    if (left < 0) throw new TooLarge();
    return text;
  };
  const resolved = async (value: ExactValue): Promise<ExactValue> => {
    if (value === null || typeof value !== "object" || isRawNumber(value)) return value;
    if (Array.isArray(value)) return Array.fromAsync(value, (one) => resolved(one));
    const ref = asReference(JSON.parse(JSON.stringify(value)));
    if (ref) return ref.type === "bytes" ? value : load(ref);
    const members = Object.entries(value);
    return Object.fromEntries(
      await Array.fromAsync(members, async ([name, one]) => [name, await resolved(one)] as const),
    );
  };
  const load = async (ref: BlobRef): Promise<ExactValue> => {
    if (ref.bytes > left) throw new TooLarge();
    const text = taken(Buffer.from(await blobs.get(home, ref.sha256)).toString());
    return ref.type === "text" ? text : resolved(parseExact(text));
  };
  const whole = async () => JSON.stringify(await resolved(parseExact(taken(json))));
  return whole().catch(recoverFrom(TooLarge, () => null));
}

class TooLarge extends Error {
  override name = "TooLarge";
}

/** Loads the text of a JSON blob. */
export type LoadJson = (sha256: string) => Promise<string>;

/** Returns the first of `keys` that is the whole dot path or the start of it. A key may itself contain dots. */
export function keyOfPath(keys: ReadonlySet<string>, path: string): string | undefined {
  return [...keys].find((key) => path === key || path.startsWith(`${key}.`));
}

/**
 * Returns the JSON text of the value at a dot path, also if the path leads into a blob. Undefined if there is no such
 * value.
 */
export async function findValue(context: Context, path: string, load: LoadJson): Promise<string | undefined> {
  const found = context.find(path);
  return found && valueIn(found.json, found.inside, load);
}

/** Returns the content of the blob if the text is a reference to a JSON blob; otherwise returns the text unchanged. */
export async function loadedText(text: string, load: LoadJson): Promise<string> {
  if (!text.includes(`"${blobKey}"`)) return text;
  const value: unknown = JSON.parse(text);
  const ref = value !== null && typeof value === "object" ? asReference(value) : undefined;
  return ref?.type === "json" ? load(ref.sha256) : text;
}

async function valueIn(json: string, steps: readonly string[], load: LoadJson): Promise<string | undefined> {
  if (steps.length === 0) return json;
  let value: ExactValue | undefined = parseExact(json);
  for (const step of steps) {
    if (isMarked(value)) value = parseExact(await loadedText(JSON.stringify(value), load));
    // A path cannot lead into a file or a long text, because these have no members.
    if (isMarked(value)) return undefined;
    value = memberOf(value, step);
  }
  return JSON.stringify(value);
}

function isMarked(value: ExactValue | undefined): boolean {
  return value !== null && typeof value === "object" && Object.hasOwn(value, blobKey);
}
