import { endOfString } from "./strings.ts";

/**
 * JSON as text. The engine moves values without parsing them, because `JSON.parse` would turn 12345678901234567890
 * into ...567000 and 850.0 into 850; these functions find the borders of values and leave their text alone.
 */
export interface Member {
  key: string;
  /** The value's JSON text, exactly as written. */
  json: string;
}

/**
 * Members of a JSON object's text, in order; a repeated key keeps its first place and its last value. Throws
 * `SyntaxError` when it is not one.
 */
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

/** Whether a text is one JSON value and nothing else, so that it can stand in another one. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** How many lists and objects lie inside each other at the deepest place of a valid JSON text. */
export function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '"') i = endOfString(text, i) - 1;
    else if (c === "{" || c === "[") deepest = Math.max(deepest, ++depth);
    else if (c === "}" || c === "]") depth--;
  }
  return deepest;
}

/** The text of an object with these members. */
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
