import { listElements, listMembers, Raw, readKind } from "./raw.ts";

/** Members that hold what users sent, and definitions: a bound or a default has digits, too. */
const exact = new Set([
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

/** Members in which there are such members. */
const around = new Set(["items", "entries", "branches", "changes", "child", "nodes", "outputs", "named", "outcome"]);

/** An answer of the API, whose contexts stay the text that they are. */
export function parseAnswer(text: string): unknown {
  return readKind(text) === "object" ? parseMembers(text) : JSON.parse(text);
}

function parseMembers(text: string): object {
  return Object.fromEntries(listMembers(text).map(({ key, text: value }) => [key, parseMember(key, value)]));
}

function parseMember(key: string, text: string): unknown {
  if (exact.has(key) && text !== "null") return new Raw(text);
  if (!around.has(key)) return JSON.parse(text);
  const kind = readKind(text);
  if (kind === "object") return parseMembers(text);
  return kind === "list" ? listElements(text).map(parseAnswer) : JSON.parse(text);
}

/** The types of the client say what a context or a definition is, not that it is kept as text here. */
export function asRaw(context: unknown): Raw {
  return context instanceof Raw ? context : new Raw("{}");
}

/** JSON text of a value, which may be null. */
export function toJsonText(value: unknown): string {
  return value === null ? "null" : asRaw(value).text;
}
