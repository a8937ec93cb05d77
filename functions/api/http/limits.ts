import { Unreadable } from "./errors.ts";

/** AWS Lambda takes 6 MB of event, the body as an escaped JSON string in it. */
export const mostBytes = 4 * 1024 * 1024;
/** A context may have 500 levels (engine); a body has one around it. */
const deepest = 512;
const mostKeys = 100_000;

/** Throws `Unreadable` before anything is parsed: a body of brackets alone would cost more than it weighs. */
export function refuseLarge(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > mostBytes)
    throw new Unreadable(
      413,
      `the body has ${bytes} bytes, at most ${mostBytes} are taken - send files by POST /uploads`,
    );
  const { depth, keys } = measure(text);
  if (depth > deepest)
    throw new Unreadable(
      413,
      `the body is nested ${depth} levels deep, at most ${deepest} are taken - make it flatter`,
    );
  if (keys > mostKeys)
    throw new Unreadable(
      413,
      `the body has ${keys} keys, at most ${mostKeys} are taken - send it as a file, by POST /uploads`,
    );
}

/** Of a text that need not be JSON: how deep its brackets go, and how many colons stand outside of strings. */
function measure(text: string): { depth: number; keys: number } {
  let [depth, deepest, keys] = [0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '"') i = endOfString(text, i);
    else if (c === "{" || c === "[") deepest = Math.max(deepest, ++depth);
    else if (c === "}" || c === "]") depth--;
    else if (c === ":") keys++;
  }
  return { depth: deepest, keys };
}

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === '"') return i;
  }
  return text.length;
}
