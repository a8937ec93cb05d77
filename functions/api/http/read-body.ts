import { membersOf, RawJson } from "@nova/engine";
import { halfCharacterIn } from "@nova/workflow";
import { Misfit, Unreadable } from "./errors.ts";
import type { Received } from "./event.ts";
import { refuseLarge } from "./limits.ts";

/**
 * The body as a value. Members named in `exact` stay the text that they were sent as (`RawJson`), so that
 * 12345678901234567890 and 850.0 arrive as such. Throws `Unreadable`; `Misfit` for half a character, which no node
 * could read, and no table keep.
 */
export function readBody({ text, headers }: Pick<Received, "text" | "headers">, exact: readonly string[]): unknown {
  const type = headers["content-type"] ?? "application/json";
  if (!/^application\/(json|[a-z0-9.+-]*\+json)\s*(;|$)/i.test(type)) {
    throw new Unreadable(415, `a body of type "${type}" cannot be read - send application/json`);
  }
  refuseLarge(text);
  if (text.trim() === "") throw new Unreadable(400, "the body is empty - send JSON, {} where there is nothing to say");
  const value = parsed(text);
  refuseHalfCharacter(text);
  if (exact.length === 0 || value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const kept = membersOf(text).filter(({ key }) => exact.includes(key));
  return { ...value, ...Object.fromEntries(kept.map(({ key, json }) => [key, new RawJson(json)])) };
}

function refuseHalfCharacter(text: string): void {
  const path = halfCharacterIn(text);
  if (path === undefined) return;
  const message = "it has half a character (a surrogate without its other half) - send both halves, or neither";
  throw new Misfit(400, "the body", [{ path, message }]);
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
