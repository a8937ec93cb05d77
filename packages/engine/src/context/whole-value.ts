import { type ExactValue, isRawNumber, memberOf, parseExact } from "@nova/workflow";
import type { BlobHome, BlobRef, BlobStore } from "../ports/blobs.ts";
import type { Context } from "./context.ts";
import { asReference, blobKey } from "./references.ts";

/** The home and the store of a value's blobs. */
export interface ValueSource {
  home: BlobHome;
  blobs: BlobStore;
}

/** JSON text of a whole value of a context, including its blobs; null above `maxBytes` or without the key. */
export async function wholeValue(
  input: Context,
  key: string,
  maxBytes: number,
  source: ValueSource,
): Promise<string | null> {
  const slot = input.slot(key);
  return slot ? wholeJson(slot.json, maxBytes, source) : null;
}

/** Returns the same as `wholeValue` for a value's own JSON text. */
export async function wholeJson(json: string, maxBytes: number, { home, blobs }: ValueSource): Promise<string | null> {
  let left = maxBytes;
  const taken = (text: string): string => {
    left -= Buffer.byteLength(text);
    if (left < 0) throw new TooLarge();
    return text;
  };
  const resolved = async (value: ExactValue): Promise<ExactValue> => {
    if (value === null || typeof value !== "object" || isRawNumber(value)) return value;
    if (Array.isArray(value)) return inOrder(value, resolved);
    const ref = asReference(JSON.parse(JSON.stringify(value)));
    if (ref) return ref.type === "bytes" ? value : load(ref);
    const values = await inOrder(Object.values(value), resolved);
    return Object.fromEntries(Object.keys(value).map((name, i) => [name, values[i] as ExactValue]));
  };
  const load = async (ref: BlobRef): Promise<ExactValue> => {
    if (ref.bytes > left) throw new TooLarge();
    const text = taken(Buffer.from(await blobs.get(home, ref.sha256)).toString());
    return ref.type === "text" ? text : resolved(parseExact(text));
  };
  try {
    return JSON.stringify(await resolved(parseExact(taken(json))));
  } catch (error) {
    if (error instanceof TooLarge) return null;
    throw error;
  }
}

class TooLarge extends Error {
  override name = "TooLarge";
}

async function inOrder(values: readonly ExactValue[], one: (value: ExactValue) => Promise<ExactValue>) {
  const found: ExactValue[] = [];
  for (const value of values) found.push(await one(value));
  return found;
}

/** Loads the text of a JSON blob. */
export type LoadJson = (sha256: string) => Promise<string>;

/** The first of some keys that a dot path starts with. A key may contain dots. */
export function keyOfPath(keys: ReadonlySet<string>, path: string): string | undefined {
  return [...keys].find((key) => path === key || path.startsWith(`${key}.`));
}

/** JSON text of the value at a dot path, including values in blobs. Undefined if the path leads nowhere. */
export async function findValue(context: Context, path: string, load: LoadJson): Promise<string | undefined> {
  const found = context.find(path);
  return found && valueIn(found.json, found.inside, load);
}

/** Returns the text, or the content of its blob if it is a reference to JSON. */
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
    // Files and long texts have no members.
    if (isMarked(value)) return undefined;
    value = memberOf(value, step);
  }
  return JSON.stringify(value);
}

function isMarked(value: ExactValue | undefined): boolean {
  return value !== null && typeof value === "object" && Object.hasOwn(value, blobKey);
}
