import { createHmac } from "node:crypto";

/**
 * Value of `x-nova-signature`, as Stripe writes it: `t=<seconds>,v1=<HMAC-SHA256 in hex>` of the time, a dot and the body.
 * A webhook trigger with `tolerance` takes it as it is.
 */
export function failureSignature(secret: string, body: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  return `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`;
}
