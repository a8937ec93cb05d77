import { elementsOf, kindOf, membersOf } from "./raw.ts";

/** JSON with a line for each member; scalars keep the text that they had. */
export function prettyJson(text: string, indent = ""): string {
  const kind = kindOf(text);
  const inside = `${indent}  `;
  const lines =
    kind === "object"
      ? membersOf(text).map(({ key, text: value }) => `${JSON.stringify(key)}: ${prettyJson(value, inside)}`)
      : kind === "list"
        ? elementsOf(text).map((value) => prettyJson(value, inside))
        : undefined;
  if (lines === undefined) return text;
  const [open, close] = kind === "object" ? ["{", "}"] : ["[", "]"];
  if (lines.length === 0) return `${open}${close}`;
  return `${open}\n${lines.map((line) => `${inside}${line}`).join(",\n")}\n${indent}${close}`;
}
