import type { Context } from "../context/context.ts";
import { asReference } from "../context/references.ts";
import { type ExactValue, isRawNumber, parseExact } from "../json/exact.ts";
import { elementsOf } from "../json/text.ts";
import type { BlobRef } from "../ports/blobs.ts";

/** Text of a JSON blob. */
export type LoadJson = (ref: BlobRef) => Promise<string>;

/**
 * Texts of the elements of the list at a dot path, wherever the list lies: in a blob, or in something that does. A key
 * that contains dots itself wins over the path through it. Else why there is no list.
 */
export async function findItems(
  context: Context,
  path: string,
  load: LoadJson,
): Promise<string[] | { problem: string }> {
  const steps = path.split(".");
  const name = `context[${JSON.stringify(path)}]`;
  for (let length = steps.length; length > 0; length--) {
    const slot = context.slot(steps.slice(0, length).join("."));
    if (!slot) continue;
    const text = await textAt(slot.json, steps.slice(length), load);
    if (text === undefined) break;
    if (text.trimStart().startsWith("[")) return elementsOf(text);
    return { problem: `${name} is ${kindOf(text)}, not a list - "items" takes the path of a list` };
  }
  return { problem: `there is no ${name} - "items" takes the path of a list that is there before the map begins` };
}

async function textAt(json: string, steps: readonly string[], load: LoadJson): Promise<string | undefined> {
  const text = await loaded(json, load);
  if (steps.length === 0) return text;
  let value: ExactValue | undefined = parseExact(text);
  for (const step of steps) {
    if (value === null || typeof value !== "object" || isRawNumber(value)) return undefined;
    if (!Object.prototype.propertyIsEnumerable.call(value, step)) return undefined;
    const child: ExactValue | undefined = (value as { [key: string]: ExactValue })[step];
    value = isMarked(child) ? parseExact(await loaded(JSON.stringify(child), load)) : child;
  }
  return JSON.stringify(value);
}

/** The text itself, or what it refers to where it is a reference to JSON. */
async function loaded(text: string, load: LoadJson): Promise<string> {
  if (!text.includes('"$blob"')) return text;
  const value: unknown = JSON.parse(text);
  const ref = value !== null && typeof value === "object" ? asReference(value) : undefined;
  return ref?.type === "json" ? load(ref) : text;
}

function isMarked(value: ExactValue | undefined): boolean {
  return value !== null && typeof value === "object" && Object.hasOwn(value, "$blob");
}

function kindOf(text: string): string {
  const value: unknown = JSON.parse(text);
  if (value === null) return "null";
  if (typeof value !== "object")
    return { string: "a text", number: "a number", boolean: "a boolean" }[typeof value as string] ?? "no value";
  const type = asReference(value)?.type;
  return type === "bytes" ? "bytes" : type === "text" ? "a text" : "an object";
}
