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

/** Lists the first `max` members of an object, one level deep. `text` must be valid JSON, as the API sends it. */
export function listMembers(text: string, max?: number): Member[] {
  return splitObject(text, max).map(({ key, json }) => ({ key, text: json }));
}

/** Returns the members of an object by key, as JSON. */
export function readMembers(text: string): Map<string, string> {
  return new Map(listMembers(text).map((member) => [member.key, member.text]));
}

export function findMember(text: string, name: string): string | undefined {
  return listMembers(text).find(({ key }) => key === name)?.text;
}

export function readString(json: string | undefined): string | undefined {
  return json !== undefined && readKind(json) === "text" ? JSON.parse(json) : undefined;
}

/** Formats JSON with one member per line. Scalars keep their text. */
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

/** Returns `text` as a `Raw` value if `text` is a JSON object; undefined if `text` is anything else. */
export function parseObject(text: string): Raw | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? new Raw(text.trim()) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The members of API answers that stay unparsed (`Raw`): values of users, and definitions. Their numbers then keep all
 * digits.
 */
const rawMembers = new Set([
  "context",
  "set",
  "input_context",
  "output_result",
  "output",
  "pattern",
  "was",
  "is",
  "variables",
  "definition",
  "form",
  "forms",
  "value",
  "data",
]);

/** Names of members whose values may contain a member with a name in `rawMembers`. */
const nestingMembers = new Set([
  "items",
  "entries",
  "branches",
  "changes",
  "child",
  "nodes",
  "beside",
  "outputs",
  "named",
  "outcome",
]);

/** Parses an answer of the API, and leaves contexts and definitions as `Raw` text. */
export function parseAnswer(text: string): unknown {
  return readKind(text) === "object" ? parseMembers(text) : JSON.parse(text);
}

function parseMembers(text: string): object {
  return Object.fromEntries(listMembers(text).map(({ key, text: value }) => [key, parseMember(key, value)]));
}

function parseMember(key: string, text: string): unknown {
  if (rawMembers.has(key) && text !== "null") return new Raw(text);
  if (!nestingMembers.has(key)) return JSON.parse(text);
  const kind = readKind(text);
  if (kind === "object") return parseMembers(text);
  return kind === "list" ? listElements(text).map(parseAnswer) : JSON.parse(text);
}

/**
 * Returns a member of an answer as `Raw`. The types of the API client describe the parsed value, but `parseAnswer`
 * keeps the JSON text of the member.
 */
export function asRaw(context: unknown): Raw {
  return context instanceof Raw ? context : new Raw("{}");
}

/** Returns the JSON text of a member that may be null. */
export function toJsonText(value: unknown): string {
  return value === null ? "null" : asRaw(value).text;
}
