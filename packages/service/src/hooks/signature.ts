import { createHmac, timingSafeEqual } from "node:crypto";
import type { WebhookSignature } from "@nova/workflow";
import { novaHeader, novaKey, novaPrefix } from "../failures/signature.ts";

export interface SignedRequest {
  /** Of the header that carries the signature. */
  value: string | undefined;
  body: Uint8Array;
  nowMs: number;
}

/** Stripe's name of the digest, where a signature says none itself. */
const usualPrefix = "v1=";

/**
 * Why a request is not signed with any of the keys; undefined: it is. With `toleranceSeconds` the header is a list such
 * as `t=1492774577,v1=<digest>`, and the digest is of the time, a dot and the body (Stripe, "Verify webhook signatures").
 * The header `x-nova-signature` may carry NOVA's own digest, or `v1` as earlier releases signed.
 */
export function signatureProblem(
  signature: WebhookSignature,
  keys: readonly string[],
  signed: SignedRequest,
): string | undefined {
  const { header, toleranceSeconds } = signature;
  if (signed.value === undefined) return `it has no header ${header}`;
  if (toleranceSeconds === undefined) {
    const digests = [withoutPrefix(signed.value.trim(), signature.prefix ?? "")];
    return anyFits(signature.algorithm, keys, digests, [signed.body]) ? undefined : wrong;
  }
  const parts = signed.value.split(",").map((part) => part.trim());
  const time = /^t=(\d{1,12})$/.exec(parts.find((part) => part.startsWith("t=")) ?? "")?.[1];
  if (time === undefined) return `its header ${header} has no time t=`;
  const isSigned = schemesOf(signature, keys).map(({ prefix, algorithm, ...scheme }) => {
    const digests = parts.map((part) => withoutPrefix(part, prefix));
    return anyFits(algorithm, scheme.keys, digests, [Buffer.from(`${time}.`), signed.body]);
  });
  if (!isSigned.includes(true)) return wrong;
  const ageSeconds = Math.abs(signed.nowMs / 1000 - Number(time));
  return ageSeconds <= toleranceSeconds ? undefined : `it was signed ${Math.round(ageSeconds)} seconds ago, or ahead`;
}

interface Scheme {
  prefix: string;
  algorithm: WebhookSignature["algorithm"];
  keys: readonly (string | Buffer)[];
}

function schemesOf({ header, prefix = usualPrefix, algorithm }: WebhookSignature, keys: readonly string[]): Scheme[] {
  const said: Scheme = { prefix, algorithm, keys };
  return header === novaHeader ? [said, { prefix: novaPrefix, algorithm: "sha256", keys: keys.map(novaKey) }] : [said];
}

const wrong = "its signature is wrong";

function withoutPrefix(text: string, prefix: string): string | undefined {
  return text.startsWith(prefix) ? text.slice(prefix.length) : undefined;
}

/** Takes as long whether and wherever digests differ. */
function anyFits(
  algorithm: WebhookSignature["algorithm"],
  keys: readonly (string | Buffer)[],
  digests: readonly (string | undefined)[],
  parts: readonly Uint8Array[],
): boolean {
  const given = digests.map(bytesOf);
  const fits = keys.flatMap((key) => {
    const hmac = createHmac(algorithm, key);
    for (const part of parts) hmac.update(part);
    const right = hmac.digest();
    return given.map(
      (digest) => timingSafeEqual(right, lengthened(digest, right.length)) && right.length === digest.length,
    );
  });
  return fits.includes(true);
}

/** Of a digest in hex or base64, as vendors write it. */
function bytesOf(digest = ""): Buffer {
  return /^([0-9a-f]{2})+$/i.test(digest) ? Buffer.from(digest, "hex") : Buffer.from(digest, "base64");
}

function lengthened(digest: Buffer, bytes: number): Buffer {
  return Buffer.concat([digest, Buffer.alloc(bytes)], bytes);
}
