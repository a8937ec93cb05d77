import { createHmac } from "node:crypto";

/** Header of NOVA's own requests; a trigger that names it takes them. */
export const novaHeader = "x-nova-signature";

/** In front of NOVA's digest in the header. Earlier releases wrote `v1=`, a digest with the secret itself. */
export const novaPrefix = "v2=";

/** Another key than the secret, which may be a vendor's too: what NOVA signs must never pass for the vendor's. */
export function novaKey(secret: string): Buffer {
  return createHmac("sha256", secret).update(novaHeader).digest();
}

/** Value of `x-nova-signature`: `t=<seconds>,v2=<hex>`, HMAC-SHA256 with `novaKey` of the time, a dot and the body. */
export function failureSignature(secret: string, body: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  return `t=${seconds},${novaPrefix}${createHmac("sha256", novaKey(secret)).update(`${seconds}.${body}`).digest("hex")}`;
}
