import { type ExactValue, isRawNumber, memberOf, parseExact } from "@nova/workflow";
import type { BlobHome, BlobRef, BlobStore } from "../ports/blobs.ts";
import type { Context } from "./context.ts";
import { asReference, blobKey } from "./references.ts";

/** The store that has the blobs of a value, and the client and execution to which these blobs belong. */
export interface ValueSource {
  home: BlobHome;
  blobs: BlobStore;
}

/**
 * Returns the JSON text of a key's value with the contents of its blobs; null if it exceeds `maxBytes` or the key is
 * missing.
 */
export async function wholeValue(
  input: Context,
  key: string,
  maxBytes: number,
  source: ValueSource,
): Promise<string | null> {
  const slot = input.slot(key);
  return slot ? wholeJson(slot.json, maxBytes, source) : null;
}

/** Returns the JSON text of a value with the contents of its blobs; null if it exceeds `maxBytes`. */
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

/** Returns the first of `keys` that equals the dot path or starts it. A key may itself contain dots. */
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

/** Returns the text unchanged, unless it is a reference to a JSON blob: then returns the content of that blob. */
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
