import { createHmac, timingSafeEqual } from "node:crypto";
import type { WebhookSignature } from "@nova/workflow";

export interface SignedRequest {
  value: string | undefined;
  body: Uint8Array;
  nowMs: number;
}

/**
 * The name that Stripe puts before the digest. A signature with `toleranceSeconds` and without `prefix` has this
 * prefix.
 */
const usualPrefix = "v1=";

/**
 * Returns the reason why the signature of a request is refused; undefined if one of the keys made it recently enough.
 * With `toleranceSeconds` the header is a list such as `t=1492774577,v1=<digest>`, and the digest covers the time, a
 * dot and the body (Stripe, "Verify webhook signatures"). The header `x-nova-signature` carries NOVA's own digest
 * instead.
 */
export function signatureProblem(signature: WebhookSignature, keys: readonly string[], signed: SignedRequest) {
  const { header, toleranceSeconds } = signature;
  if (signed.value === undefined) return `it has no header ${header}`;
  if (toleranceSeconds === undefined) {
    const digests = [withoutPrefix(signed.value.trim(), signature.prefix ?? "")];
    return anyFits(signature.algorithm, keys, digests, [signed.body]) ? undefined : wrong;
  }
  const parts = signed.value.split(",").map((part) => part.trim());
  const time = /^t=(\d{1,12})$/.exec(parts.find((part) => part.startsWith("t=")) ?? "")?.[1];
  if (time === undefined) return `its header ${header} has no time t=`;
  const { prefix, algorithm, keys: schemeKeys } = schemeOf(signature, keys);
  const digests = parts.map((part) => withoutPrefix(part, prefix));
  const isSigned = anyFits(algorithm, schemeKeys, digests, [Buffer.from(`${time}.`), signed.body]);
  if (!isSigned) return wrong;
  const ageSeconds = Math.abs(signed.nowMs / 1000 - Number(time));
  return ageSeconds <= toleranceSeconds ? undefined : `it was signed ${Math.round(ageSeconds)} seconds ago, or ahead`;
}

function schemeOf({ header, prefix = usualPrefix, algorithm }: WebhookSignature, keys: readonly string[]) {
  return header === novaHeader
    ? { prefix: novaPrefix, algorithm: "sha256" as const, keys: keys.map(novaKey) }
    : { prefix, algorithm, keys };
}

const wrong = "its signature is wrong";

function withoutPrefix(text: string, prefix: string): string | undefined {
  return text.startsWith(prefix) ? text.slice(prefix.length) : undefined;
}

/**
 * Returns whether the HMAC of `parts` with one of the keys equals one of the sent digests. The time that the comparison
 * takes does not show whether two digests differ, or at which byte.
 */
function anyFits(
  algorithm: WebhookSignature["algorithm"],
  keys: readonly (string | Buffer)[],
  digests: readonly (string | undefined)[],
  parts: readonly Uint8Array[],
): boolean {
  const sent = digests.map(bytesOf);
  const fits = keys.flatMap((key) => {
    const hmac = createHmac(algorithm, key);
    for (const part of parts) hmac.update(part);
    const right = hmac.digest();
    return sent.map(
      (digest) => timingSafeEqual(right, lengthened(digest, right.length)) && right.length === digest.length,
    );
  });
  return fits.includes(true);
}

function bytesOf(digest = ""): Buffer {
  return /^([0-9a-f]{2})+$/i.test(digest) ? Buffer.from(digest, "hex") : Buffer.from(digest, "base64");
}

function lengthened(digest: Buffer, bytes: number): Buffer {
  return Buffer.concat([digest, Buffer.alloc(bytes)], bytes);
}

/**
 * The header in which NOVA signs its own requests. A webhook trigger accepts them if its signature names this header.
 */
export const novaHeader = "x-nova-signature";

/** The prefix of NOVA's digest in the header. */
export const novaPrefix = "v2=";

/**
 * Derives the key that signs NOVA's own requests. A vendor may sign with the same secret, and NOVA's signature must
 * never pass for the vendor's.
 */
export function novaKey(secret: string): Buffer {
  return createHmac("sha256", secret).update(novaHeader).digest();
}

/**
 * Returns the value of `x-nova-signature`: `t=<seconds>,v2=<hex>`. The hex digits are the HMAC-SHA256, with `novaKey`,
 * of the time, a dot and the body.
 */
export function failureSignature(secret: string, body: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  return `t=${seconds},${novaPrefix}${createHmac("sha256", novaKey(secret)).update(`${seconds}.${body}`).digest("hex")}`;
}
