import { jsonProblem, measureOf, membersOf, RawJson } from "@nova/engine";
import { halfCharacterIn } from "@nova/workflow";
import { Misfit, Unreadable } from "./errors.ts";
import type { Received } from "./event.ts";

/**
 * Parses a JSON body. Members named in `exact` keep the text of the request as `RawJson`, so that 12345678901234567890
 * and 850.0 keep their digits. Throws `Unreadable` for a body that is not valid JSON, or in which an object repeats a
 * name. Throws `Misfit` for half of a surrogate pair, which UTF-8 cannot store.
 */
export function readBody({ text, headers }: Pick<Received, "text" | "headers">, exact: readonly string[]): unknown {
  const type = headers["content-type"] ?? "application/json";
  if (!/^application\/(json|[a-z0-9.+-]*\+json)\s*(;|$)/i.test(type)) {
    throw new Unreadable(415, `a body of type "${type}" cannot be read - send application/json`);
  }
  refuseLarge(text);
  if (text.trim() === "") throw new Unreadable(400, "the body is empty - send JSON, such as {}");
  const value = parsed(text);
  const half = halfCharacterIn(text);
  if (half !== undefined) {
    const message = "it has half a character (a surrogate without its other half) - send both halves, or neither";
    throw new Misfit(400, "the body", [{ path: half, message }]);
  }
  const problem = jsonProblem(text);
  if (problem !== undefined) throw new Unreadable(400, `the body ${problem} - correct it`);
  if (exact.length === 0 || value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const kept = membersOf(text).filter(({ key }) => exact.includes(key));
  return { ...value, ...Object.fromEntries(kept.map(({ key, json }) => [key, new RawJson(json)])) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const place = / at position (\d+)/.exec((cause as SyntaxError).message)?.[1];
    const where = place === undefined ? "" : ` from character ${place} on`;
    throw new Unreadable(400, `the body is not JSON${where} - correct it`, { cause });
  }
}

/**
 * Maximum size of a body. AWS Lambda accepts events of at most 6 MB, and an event contains the body as an escaped JSON
 * string.
 */
export const maxBytes = 4 * 1024 * 1024;
/** The engine allows 500 levels in a context, and the body around the context adds one. */
const maxDepth = 501;
const maxKeys = 100_000;

/**
 * Throws `Unreadable` for a body that is too long, too deeply nested, or has too many keys. Callers check a body before
 * they parse it, because even a small body that consists of brackets is slow to parse.
 */
export function refuseLarge(text: string): void {
  const refuseAbove = (limit: number, given: number, is: string, wayOut: string) => {
    if (given > limit) throw new Unreadable(413, `the body ${is}, at most ${limit} are taken - ${wayOut}`);
  };
  const bytes = Buffer.byteLength(text);
  refuseAbove(maxBytes, bytes, `has ${bytes} bytes`, "send files by POST /uploads");
  const { depth, keys } = measureOf(text);
  refuseAbove(maxDepth, depth, `is nested ${depth} levels deep`, "make it flatter");
  refuseAbove(maxKeys, keys, `has ${keys} keys`, "send it as a file, by POST /uploads");
}
