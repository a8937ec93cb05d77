import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { header } from "./body/receive.ts";
import { S3Error } from "./errors.ts";

export interface AccessKey {
  accessKeyId: string;
  secretAccessKey: string;
}

const algorithm = "AWS4-HMAC-SHA256";
const longestSeconds = 7 * 24 * 60 * 60;

/** Whether a request carries its signature in its address (Signature Version 4, query parameters). */
export function isPresigned(query: URLSearchParams): boolean {
  return query.has("X-Amz-Signature");
}

/** Throws what S3 answers to an address that was not signed with this key, is over, or comes with other headers. */
export function checkPresigned(request: IncomingMessage, query: URLSearchParams, key: AccessKey, nowMs: number): void {
  const [keyId = "", date = "", region = "", service = "", end = ""] = parameter(query, "Credential").split("/");
  if (parameter(query, "Algorithm") !== algorithm || service !== "s3" || end !== "aws4_request") {
    throw new S3Error("AuthorizationQueryParametersError", "X-Amz-Algorithm only supports AWS4-HMAC-SHA256.");
  }
  if (keyId !== key.accessKeyId) {
    throw new S3Error("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.");
  }
  refuseExpired(query, nowMs);
  const scope = [date, region, service, end].join("/");
  const toSign = [algorithm, parameter(query, "Date"), scope, sha256(canonicalRequest(request, query))].join("\n");
  const secret = [date, region, service, end].reduce<Buffer | string>(hmac, `AWS4${key.secretAccessKey}`);
  const due = hmac(secret, toSign).toString("hex");
  const given = parameter(query, "Signature");
  if (given.length === due.length && timingSafeEqual(Buffer.from(given), Buffer.from(due))) return;
  throw new S3Error(
    "SignatureDoesNotMatch",
    "The request signature we calculated does not match the signature you provided. Check your key and signing method.",
  );
}

function refuseExpired(query: URLSearchParams, nowMs: number): void {
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(parameter(query, "Date")) ?? [];
  const seconds = Number(parameter(query, "Expires"));
  const begin = Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`);
  if (Number.isNaN(begin) || !(seconds > 0 && seconds <= longestSeconds)) {
    throw new S3Error("AuthorizationQueryParametersError", "X-Amz-Date and X-Amz-Expires must say a time.");
  }
  if (nowMs > begin + seconds * 1000) throw new S3Error("AccessDenied", "Request has expired");
}

/** As the signer wrote it: the path once encoded, the query sorted and without the signature, the headers it names. */
function canonicalRequest(request: IncomingMessage, query: URLSearchParams): string {
  const [path = ""] = (request.url ?? "/").split("?");
  const pairs = Array.from(query).filter(([name]) => name !== "X-Amz-Signature");
  const sorted = pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).sort();
  const names = parameter(query, "SignedHeaders");
  const headers = names.split(";").map((name) => `${name}:${header(request, name).trim().replace(/\s+/g, " ")}\n`);
  const payload = header(request, "x-amz-content-sha256") || query.get("X-Amz-Content-Sha256") || "UNSIGNED-PAYLOAD";
  return [request.method, path, sorted.join("&"), headers.join(""), names, payload].join("\n");
}

function parameter(query: URLSearchParams, name: string): string {
  return query.get(`X-Amz-${name}`) ?? "";
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
