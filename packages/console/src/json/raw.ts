/** A JSON text as it was written: numbers keep their digits, which `JSON.parse` would take from them. */
export class Raw {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export interface Member {
  key: string;
  text: string;
}

export type Kind = "object" | "list" | "text" | "number" | "boolean" | "null";

export function readKind(text: string): Kind {
  const first = text[skipSpace(text, 0)];
  if (first === "{") return "object";
  if (first === "[") return "list";
  if (first === '"') return "text";
  if (first === "t" || first === "f") return "boolean";
  return first === "n" ? "null" : "number";
}

/**
 * The members of an object, one level deep, in their order; at most `max`. The text comes from the API and is valid JSON:
 * nothing is checked, so that megabytes are split without being parsed.
 */
export function listMembers(text: string, max = Number.POSITIVE_INFINITY): Member[] {
  const members: Member[] = [];
  let at = skipSpace(text, text.indexOf("{") + 1);
  while (at < text.length && text[at] !== "}" && members.length < max) {
    const keyEnd = findStringEnd(text, at);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = findValueEnd(text, start);
    members.push({ key: JSON.parse(text.slice(at, keyEnd)), text: text.slice(start, end) });
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return members;
}

export function findMember(text: string, name: string): string | undefined {
  return listMembers(text).find(({ key }) => key === name)?.text;
}

export function readString(json: string | undefined): string | undefined {
  return json !== undefined && readKind(json) === "text" ? JSON.parse(json) : undefined;
}

/** The elements of a list, as `membersOf`. */
export function listElements(text: string, max = Number.POSITIVE_INFINITY): string[] {
  const elements: string[] = [];
  let at = skipSpace(text, text.indexOf("[") + 1);
  while (at < text.length && text[at] !== "]" && elements.length < max) {
    const end = findValueEnd(text, at);
    elements.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return elements;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code === 32 || code === 10 || code === 13 || code === 9; ) {
    code = text.charCodeAt(++at);
  }
  return at;
}

function findValueEnd(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return findStringEnd(text, at);
  if (first !== "{" && first !== "[") {
    const rest = /[,}\]\s]/g;
    rest.lastIndex = at;
    return rest.exec(text)?.index ?? text.length;
  }
  // By codes: an expression that looks for all of these marks takes ten times as long, and values have megabytes.
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) i = findStringEnd(text, i) - 1;
    else if (code === openBrace || code === openBracket) depth++;
    else if ((code === closeBrace || code === closeBracket) && --depth === 0) return i + 1;
  }
  return text.length;
}

const [quote, backslash] = [0x22, 0x5c];
const [openBracket, closeBracket] = [0x5b, 0x5d];
const [openBrace, closeBrace] = [0x7b, 0x7d];

/** Behind the closing quote: one that no backslash stands before, of which two are a letter of the text. */
function findStringEnd(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); code !== quote && at < text.length; code = text.charCodeAt(at)) {
    at += code === backslash ? 2 : 1;
  }
  return Math.min(at + 1, text.length);
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
