import { Unreadable } from "./errors.ts";

/** The API key of either header. */
export function credentialsIn(headers: Record<string, string | undefined>): string | undefined {
  const [, bearer] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "") ?? [];
  return bearer ?? headers["x-api-key"]?.trim();
}

const maxLength = 255;

/** Printable ASCII, which every client can send in a header. */
export const idempotencyKeyPattern = /^[!-~][ -~]{0,254}$/;

/** The idempotency key; undefined without one. Throws `Unreadable` for an invalid one. */
export function idempotencyKeyIn(headers: Record<string, string | undefined>): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (idempotencyKeyPattern.test(key)) return key;
  throw new Unreadable(
    400,
    `an Idempotency-Key has 1 to ${maxLength} printable ASCII characters - a UUID is a good one`,
  );
}
