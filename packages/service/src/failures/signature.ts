import { createHmac } from "node:crypto";

/** Header of NOVA's own requests; a trigger that names it takes them. */
export const novaHeader = "x-nova-signature";

/** The prefix of NOVA's digest in the header. */
export const novaPrefix = "v2=";

/** Derives the signing key. The secret may also be a vendor's, and a NOVA signature must never pass for the vendor's. */
export function novaKey(secret: string): Buffer {
  return createHmac("sha256", secret).update(novaHeader).digest();
}

/** Value of `x-nova-signature`: `t=<seconds>,v2=<hex>`, HMAC-SHA256 with `novaKey` of the time, a dot and the body. */
export function failureSignature(secret: string, body: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  return `t=${seconds},${novaPrefix}${createHmac("sha256", novaKey(secret)).update(`${seconds}.${body}`).digest("hex")}`;
}
