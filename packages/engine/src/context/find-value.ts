import { type ExactValue, memberOf, parseExact } from "@nova/workflow";
import type { Context } from "./context.ts";
import { asReference, blobKey } from "./references.ts";

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
