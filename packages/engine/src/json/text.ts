import { createHash } from "node:crypto";
import { type ExactValue, isRawNumber, parseExact } from "@nova/workflow";

/** SHA-256 as 64 hex digits; text is hashed as UTF-8. */
export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** JSON as text: `JSON.parse` would turn 850.0 into 850, so values are found and moved, not parsed. */
export interface Member {
  key: string;
  /** The value's JSON text, exactly as written. */
  json: string;
}

/** Members in order; a repeated key keeps its first place and last value. Throws `SyntaxError`. */
export function membersOf(text: string): Member[] {
  const parsed: unknown = JSON.parse(text);
  if (parsed === null || typeof parsed !== "object" || Array.isArray(parsed)) {
    throw new SyntaxError("the JSON text is not an object");
  }
  const members = new Map<string, string>();
  let at = skipSpace(text, text.indexOf("{") + 1);
  while (text[at] !== "}") {
    const keyEnd = endOfString(text, at);
    const key = JSON.parse(text.slice(at, keyEnd)) as string;
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = endOfValue(text, start);
    members.set(key, text.slice(start, end));
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return Array.from(members, ([key, json]) => ({ key, json }));
}

/** Texts of a JSON list's elements, exactly as written. Throws `SyntaxError` when it is not one. */
export function elementsOf(text: string): string[] {
  if (!Array.isArray(JSON.parse(text))) throw new SyntaxError("the JSON text is not a list");
  const elements: string[] = [];
  let at = skipSpace(text, text.indexOf("[") + 1);
  while (text[at] !== "]") {
    const end = endOfValue(text, at);
    elements.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return elements;
}

/** The value of a JSON text; undefined where it is none, or more than one. */
export function parsedOrNot(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Of what people pass, as of what code sets; far below what the stacks of Node and Python bear. */
export const deepestNesting = 500;

/** How deep brackets lie inside each other, and how many colons stand outside of strings, in a text that may be no JSON. */
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

export function objectText(members: Iterable<Member>): string {
  const parts: string[] = [];
  for (const { key, json } of members) parts.push(`${JSON.stringify(key)}:${json}`);
  return `{${parts.join(",")}}`;
}

function skipSpace(text: string, at: number): number {
  while (at < text.length && " \t\n\r".includes(text[at] as string)) at++;
  return at;
}

/** `text` is known to be valid from here on. */
function endOfValue(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return endOfString(text, at);
  if (first !== "{" && first !== "[") {
    let i = at;
    while (i < text.length && !",}] \t\n\r".includes(text[i] as string)) i++;
    return i;
  }
  let depth = 0;
  for (let i = at; ; i++) {
    const c = text[i];
    if (c === '"') i = endOfString(text, i) - 1;
    else if (c === "{" || c === "[") depth++;
    else if ((c === "}" || c === "]") && --depth === 0) return i + 1;
  }
}

/** The value at a dot path such as `email.attachments.0.name`, as JSON text; undefined where the path leads nowhere. */
export function valueAt(text: string, path: readonly string[]): string | undefined {
  if (path.length === 0) return text;
  return JSON.stringify(path.reduce<ExactValue | undefined>(memberOf, parseExact(text)));
}

/** The member or the item of a value, one of its own; undefined where it has none, and of a list's `length`. */
export function memberOf(value: ExactValue | undefined, step: string): ExactValue | undefined {
  if (value === null || typeof value !== "object" || isRawNumber(value)) return undefined;
  const isThere = Object.prototype.propertyIsEnumerable.call(value, step);
  return isThere ? (value as { [key: string]: ExactValue })[step] : undefined;
}

/** A value that is JSON text already; `renderJson` writes it as it is. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** `JSON.stringify` for values that hold `RawJson`: numbers inside those keep their digits. */
export function renderJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => renderJson(item === undefined ? null : item)).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const members = Object.entries(value).filter(([, item]) => item !== undefined);
    return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${renderJson(item)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

/** Where a string literal stands in a JSON text, its quotes included. */
export interface StringSpan {
  start: number;
  end: number;
}

/** Every string literal of a valid JSON text, keys included, in order. */
export function* stringsIn(text: string): Iterable<StringSpan> {
  for (let start = text.indexOf('"'); start >= 0; ) {
    const end = endOfString(text, start);
    yield { start, end };
    start = text.indexOf('"', end);
  }
}

/** True when the literal names a member: only a colon can follow it. */
export function isKey(text: string, { end }: StringSpan): boolean {
  return text[skipSpace(text, end)] === ":";
}

/** Behind the literal's closing quote: the first one with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text[quote - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** A JSON value with secrets masked in texts, keys and numbers; what has `toJSON` stays unmasked. */
export function maskValue(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value);
  const digits = typeof value === "number" ? String(value) : isRawNumber(value) ? value.rawJSON : undefined;
  if (digits !== undefined) return mask(digits) === digits ? value : mask(digits);
  if (Array.isArray(value)) return value.map((item) => maskValue(item, mask));
  if (value === null || typeof value !== "object") return value;
  if ("toJSON" in value && typeof value.toJSON === "function") return value.toJSON();
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [mask(key), maskValue(item, mask)]));
}
