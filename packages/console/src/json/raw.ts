import { splitList as listElements, RawJson as Raw, splitObject } from "@nova/workflow/json-text";

export { listElements, Raw };

export interface Member {
  key: string;
  text: string;
}

export type Kind = "object" | "list" | "text" | "number" | "boolean" | "null";

export function readKind(text: string): Kind {
  const first = text.trimStart()[0];
  if (first === "{") return "object";
  if (first === "[") return "list";
  if (first === '"') return "text";
  if (first === "t" || first === "f") return "boolean";
  return first === "n" ? "null" : "number";
}

/** The first `max` members of an object, one level deep. The text comes from the API, so it is valid JSON. */
export function listMembers(text: string, max?: number): Member[] {
  return splitObject(text, max).map(({ key, json }) => ({ key, text: json }));
}

export function findMember(text: string, name: string): string | undefined {
  return listMembers(text).find(({ key }) => key === name)?.text;
}

export function readString(json: string | undefined): string | undefined {
  return json !== undefined && readKind(json) === "text" ? JSON.parse(json) : undefined;
}

/** JSON with a line for each member; scalars keep the text that they had. */
export function formatJson(text: string, indent = ""): string {
  const kind = readKind(text);
  const inside = `${indent}  `;
  const lines =
    kind === "object"
      ? listMembers(text).map(({ key, text: value }) => `${JSON.stringify(key)}: ${formatJson(value, inside)}`)
      : kind === "list"
        ? listElements(text).map((value) => formatJson(value, inside))
        : undefined;
  if (lines === undefined) return text;
  const [open, close] = kind === "object" ? ["{", "}"] : ["[", "]"];
  if (lines.length === 0) return `${open}${close}`;
  return `${open}\n${lines.map((line) => `${inside}${line}`).join(",\n")}\n${indent}${close}`;
}

/** The text of an object, which stays as it was written; undefined where it is none. */
export function parseObject(text: string): Raw | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? new Raw(text.trim()) : undefined;
  } catch {
    return undefined;
  }
}
