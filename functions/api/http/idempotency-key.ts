import { Unreadable } from "./errors.ts";

const longest = 255;

/** Throws `Unreadable`. */
export function idempotencyKeyIn(headers: Record<string, string | undefined>): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (/^[\x20-\x7e]+$/.test(key) && key.trim() !== "" && key.length <= longest) return key;
  throw new Unreadable(400, `an Idempotency-Key has 1 to ${longest} printable ASCII characters - a UUID is a good one`);
}
