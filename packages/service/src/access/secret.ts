import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** A key as its owner has it. */
export interface KeyText {
  id: string;
  secret: string;
}

const secretBytes = 32;
/** `nova_`, the ULID of the id, and 32 bytes in base64url. */
const pattern = /^nova_([0-9A-HJKMNP-TV-Z]{26})_([A-Za-z0-9_-]{43})$/;

export function newSecret(): string {
  return randomBytes(secretBytes).toString("base64url");
}

export function keyText({ id, secret }: KeyText): string {
  return `nova_${id.slice("key_".length)}_${secret}`;
}

export function readKeyText(text: string): KeyText | undefined {
  const [, ulid, secret] = pattern.exec(text) ?? [];
  return ulid === undefined || secret === undefined ? undefined : { id: `key_${ulid}`, secret };
}

/**
 * SHA-256, once, is right here and wrong for passwords: a slow hash defends texts that can be guessed, and nobody
 * guesses 256 random bits. It costs a request microseconds where bcrypt would cost it a tenth of a second.
 */
export function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

export function isDigestOf(secret: string, digest: string): boolean {
  return timingSafeEqual(Buffer.from(digestOf(secret), "hex"), Buffer.from(digest, "hex"));
}
