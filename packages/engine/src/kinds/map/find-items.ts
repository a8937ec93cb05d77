import type { Context } from "../../context/context.ts";
import { findValue, type LoadJson, loadedText } from "../../context/find-value.ts";
import { asReference } from "../../context/references.ts";
import { elementsOf } from "../../json/text.ts";

/** Texts of the elements of the list at a dot path. Else why there is no list. */
export async function findItems(
  context: Context,
  path: string,
  load: LoadJson,
): Promise<string[] | { problem: string }> {
  const name = `context[${JSON.stringify(path)}]`;
  const found = await findValue(context, path, load);
  if (found === undefined)
    return { problem: `there is no ${name} - "items" takes the path of a list that is there before the map begins` };
  const text = await loadedText(found, load);
  if (text.trimStart().startsWith("[")) return elementsOf(text);
  return { problem: `${name} is ${kindOf(text)}, not a list - "items" takes the path of a list` };
}

function kindOf(text: string): string {
  const value: unknown = JSON.parse(text);
  if (value === null) return "null";
  if (typeof value !== "object")
    return { string: "a text", number: "a number", boolean: "a boolean" }[typeof value as string] ?? "no value";
  const type = asReference(value)?.type;
  return type === "bytes" ? "bytes" : type === "text" ? "a text" : "an object";
}
