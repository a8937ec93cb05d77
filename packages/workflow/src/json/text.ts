import { type ExactValue, isRawNumber, parseExact } from "./exact.ts";

/**
 * A member of a JSON object with its value as text, because `JSON.parse` would turn 850.0 into 850. This file must
 * import no module of Node: the console's page runs it, too.
 */
export interface Member {
  key: string;
  json: string;
}

/**
 * Returns the members of a JSON object in order. A repeated key has its first place and its last value. Throws
 * `SyntaxError` for other texts.
 */
export function membersOf(text: string): Member[] {
  const parsed: unknown = JSON.parse(text);
  if (parsed === null || typeof parsed !== "object" || Array.isArray(parsed)) {
    throw new SyntaxError("the JSON text is not an object");
  }
  const members = new Map(splitObject(text).map(({ key, json }) => [key, json]));
  return Array.from(members, ([key, json]) => ({ key, json }));
}

/** Returns the elements of a JSON list as text, exactly as written. Throws `SyntaxError` for other texts. */
export function elementsOf(text: string): string[] {
  if (!Array.isArray(JSON.parse(text))) throw new SyntaxError("the JSON text is not a list");
  return splitList(text);
}

/**
 * Returns the first `max` members of an object. The text must be valid JSON: it may have megabytes, so it is not
 * checked again.
 */
export function splitObject(text: string, max = Number.POSITIVE_INFINITY): Member[] {
  const members: Member[] = [];
  let at = skipSpace(text, text.indexOf("{") + 1);
  while (at < text.length && text[at] !== "}" && members.length < max) {
    const keyEnd = endOfString(text, at);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = endOfValue(text, start);
    members.push({ key: JSON.parse(text.slice(at, keyEnd)), json: text.slice(start, end) });
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return members;
}

/** Returns the first `max` elements of a list. As for `splitObject`, the text must be valid JSON. */
export function splitList(text: string, max = Number.POSITIVE_INFINITY): string[] {
  const elements: string[] = [];
  let at = skipSpace(text, text.indexOf("[") + 1);
  while (at < text.length && text[at] !== "]" && elements.length < max) {
    const end = endOfValue(text, at);
    elements.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return elements;
}

export function objectText(members: Iterable<Member>): string {
  const parts: string[] = [];
  for (const { key, json } of members) parts.push(`${JSON.stringify(key)}:${json}`);
  return `{${parts.join(",")}}`;
}

/** Returns the value of a JSON text; undefined if the text is not one JSON value. */
export function parsedOrNot(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isJson(text: string): boolean {
  return parsedOrNot(text) !== undefined;
}

export function utf8In(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Maximum number of nested levels of a value from a caller or from code. The stacks of Node and Python allow far more.
 */
export const deepestNesting = 500;

/** Counts the nested levels (`depth`) and the colons outside strings (`keys`) of a text, which need not be JSON. */
export function measureOf(text: string): { depth: number; keys: number } {
  let [open, depth, keys] = [0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '"') i = endOfString(text, i) - 1;
    else if (c === "{" || c === "[") depth = Math.max(depth, ++open);
    else if (c === "}" || c === "]") open--;
    else if (c === ":") keys++;
  }
  return { depth, keys };
}

/** Returns the JSON text at a path such as `["attachments", "0", "name"]`; undefined if the path leads nowhere. */
export function valueAt(text: string, path: readonly string[]): string | undefined {
  if (path.length === 0) return text;
  return JSON.stringify(path.reduce<ExactValue | undefined>(memberOf, parseExact(text)));
}

/**
 * Returns a member of an object or an item of a list. Returns undefined if there is none, and for inherited names such
 * as a list's `length`.
 */
export function memberOf(value: ExactValue | undefined, step: string): ExactValue | undefined {
  if (value === null || typeof value !== "object" || isRawNumber(value)) return undefined;
  const isThere = Object.prototype.propertyIsEnumerable.call(value, step);
  return isThere ? (value as { [key: string]: ExactValue })[step] : undefined;
}

/** A value that is JSON text already. `renderJson` writes it unchanged. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Writes a value as JSON, like `JSON.stringify`. Writes each `RawJson` in the value unchanged, so that the numbers in
 * the RawJson keep their digits.
 */
export function renderJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => renderJson(item === undefined ? null : item)).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const members = Object.entries(value).filter(([, item]) => item !== undefined);
    return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${renderJson(item)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

export interface StringSpan {
  start: number;
  end: number;
}

/** Yields every string literal of a valid JSON text, keys included, in order. */
export function* stringsIn(text: string): Iterable<StringSpan> {
  for (let start = text.indexOf('"'); start >= 0; ) {
    const end = endOfString(text, start);
    yield { start, end };
    start = text.indexOf('"', end);
  }
}

/** Returns true if the string literal is the name of a member: then a colon follows it. */
export function isKey(text: string, { end }: StringSpan): boolean {
  return text[skipSpace(text, end)] === ":";
}

/**
 * Masks secrets in the texts, keys and numbers of a value. The result of a `toJSON` method in the value is not masked.
 */
export function maskValue(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value);
  const digits = typeof value === "number" ? String(value) : isRawNumber(value) ? value.rawJSON : undefined;
  if (digits !== undefined) return mask(digits) === digits ? value : mask(digits);
  if (Array.isArray(value)) return value.map((item) => maskValue(item, mask));
  if (value === null || typeof value !== "object") return value;
  if ("toJSON" in value && typeof value.toJSON === "function") return value.toJSON();
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [mask(key), maskValue(item, mask)]));
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code === 32 || code === 10 || code === 13 || code === 9; ) {
    code = text.charCodeAt(++at);
  }
  return at;
}

const [quote, openBracket, closeBracket, openBrace, closeBrace] = [0x22, 0x5b, 0x5d, 0x7b, 0x7d];

function endOfValue(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return endOfString(text, at);
  if (first !== "{" && first !== "[") {
    const rest = /[,}\]\s]/g;
    rest.lastIndex = at;
    return rest.exec(text)?.index ?? text.length;
  }
  // Compares character codes, because a value may have megabytes and a regular expression would take ten times as long.
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) i = endOfString(text, i) - 1;
    else if (code === openBrace || code === openBracket) depth++;
    else if ((code === closeBrace || code === closeBracket) && --depth === 0) return i + 1;
  }
  return text.length;
}

/**
 * Returns the offset after the closing quote, which is the first quote with an even number of backslashes before it.
 */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}
