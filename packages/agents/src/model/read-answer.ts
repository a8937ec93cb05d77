import { parsedOrNot } from "@nova/engine";
import { z } from "zod";

export type Read<T> = { valid: true; value: T } | { valid: false; problem: string };

/** The value of an answer's text, held to its schema; a model's answer is somebody's input like any other. */
export function readAnswer<T>(text: string, schema: z.ZodType<T>): Read<T> {
  const object = parsedOrNot(text) ?? parsedOrNot(objectTextIn(text) ?? "");
  if (object === undefined) return { valid: false, problem: "there is no JSON object in it" };
  const result = schema.safeParse(object);
  return result.success
    ? { valid: true, value: result.data }
    : { valid: false, problem: result.error.issues.map(told).join("; ") };
}

function told({ message, path }: z.core.$ZodIssue): string {
  return path.length > 0 ? `${message} at ${z.core.toDotPath(path)}` : message;
}

/** So many opening braces are tried: a text of nothing else would cost its length squared. */
const attempts = 100;

/**
 * The first JSON object in a text, with the digits of its numbers: for servers that ignore `json_schema`, whose models wrap
 * it in prose, code fences or thoughts. Null where there is none.
 */
export function objectTextIn(answer: string): string | null {
  const text = answer.replace(/<think>[\s\S]*?<\/think>/g, "");
  let start = text.indexOf("{");
  for (let attempt = 0; start >= 0 && attempt < attempts; attempt++, start = text.indexOf("{", start + 1)) {
    const end = closingBrace(text, start);
    const found = end < 0 ? "" : text.slice(start, end + 1);
    if (found !== "" && parsedOrNot(found) !== undefined) return found;
  }
  return null;
}

/** The place of the brace that closes the one at `start`, strings skipped; -1 where it stays open. */
function closingBrace(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === "\\") at++;
    if (sign === "{") depth++;
    if (sign === "}" && --depth === 0) return at;
  }
  return -1;
}
