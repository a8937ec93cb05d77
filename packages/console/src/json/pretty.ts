import { elementsOf, kindOf, membersOf } from "./raw.ts";

const step = "  ";

/** JSON with a line for each member. Numbers keep their digits, texts their escapes. */
export function prettyText(text: string, indent = ""): string {
  const kind = kindOf(text);
  if (kind !== "object" && kind !== "list") return text;
  const inner = indent + step;
  const lines =
    kind === "list"
      ? elementsOf(text).map((element) => inner + prettyText(element, inner))
      : membersOf(text).map(({ key, text: value }) => `${inner}${JSON.stringify(key)}: ${prettyText(value, inner)}`);
  const [open, close] = kind === "list" ? ["[", "]"] : ["{", "}"];
  return lines.length === 0 ? open + close : `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}
