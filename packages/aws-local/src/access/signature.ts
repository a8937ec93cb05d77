import { createHmac, hash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { LRUCache } from "lru-cache";

/**
 * The access key of a data folder, the only key that its endpoints accept. Every signed address contains the id. No
 * signed address contains the secret.
 */
export interface AccessKey {
  accessKeyId: string;
  secretAccessKey: string;
}

/** A request as it arrived, with the sender's claims about the signature (AWS Signature Version 4). */
export interface SignedRequest {
  method: string;
  /** The path as it arrived, percent-encoded. */
  path: string;
  /** Names and values are decoded. */
  query: [name: string, value: string][];
  headers: IncomingHttpHeaders;
  /** Names of the signed headers, sorted. */
  signed: string[];
  /** The time of the signature, such as `20261122T145500Z`. */
  time: string;
  /** Day, region and service, such as `20261122/us-east-1/s3/aws4_request`. */
  scope: string;
  /** SHA-256 of the body in hex, or a word such as `UNSIGNED-PAYLOAD` instead of it. */
  payload: string;
}

export const algorithm = "AWS4-HMAC-SHA256";

/**
 * The largest number of cached signing keys. There is one key for each day, region and service that a client names.
 * Without a limit, a client that does not know the secret could fill the memory by naming more and more services.
 */
const maxKeys = 32;

export class Signatures {
  readonly #secret: string;
  readonly #keys = new LRUCache<string, SigningKey>({ max: maxKeys });

  constructor(secretAccessKey: string) {
    this.#secret = secretAccessKey;
  }

  /** Returns the signature of a request in hex. */
  of(request: SignedRequest): string {
    const toSign = [algorithm, request.time, request.scope, hash("sha256", canonical(request))].join("\n");
    return this.#keyOf(request.scope).sign(toSign);
  }

  match(request: SignedRequest, given: string): boolean {
    const due = this.of(request);
    return given.length === due.length && timingSafeEqual(Buffer.from(given, "latin1"), Buffer.from(due));
  }

  #keyOf(scope: string): SigningKey {
    const known = this.#keys.get(scope);
    if (known) return known;
    const key = new SigningKey(scope.split("/").reduce<Buffer | string>(hmac, `AWS4${this.#secret}`) as Buffer);
    this.#keys.set(scope, key);
    return key;
  }
}

/**
 * Computes HMAC-SHA256 with one key. It uses two SHA-256 hashes, because one call of `createHmac` takes as long as all
 * other work of a signature check.
 */
class SigningKey {
  readonly #inner: Buffer;
  readonly #outer: Buffer;

  /** `key` has at most 64 bytes, the length of a block of SHA-256. */
  constructor(key: Buffer) {
    const block = Buffer.concat([key], 64);
    this.#inner = Buffer.from(block.map((byte) => byte ^ 0x36));
    this.#outer = Buffer.from(block.map((byte) => byte ^ 0x5c));
  }

  /** Returns the signature of a text in hex. */
  sign(text: string): string {
    const inner = hash("sha256", Buffer.concat([this.#inner, Buffer.from(text)]), "buffer");
    return hash("sha256", Buffer.concat([this.#outer, inner]));
  }
}

/** Returns whether the signature covers the host and every `x-amz-` header. */
export function vouchesFor(headers: IncomingHttpHeaders, signed: readonly string[]): boolean {
  const telling = (name: string) => name === "host" || name.startsWith("x-amz-");
  return signed.includes("host") && Object.keys(headers).every((name) => !telling(name) || signed.includes(name));
}

/** Parses a time such as `20261122T145500Z` into milliseconds since the epoch; NaN for other texts. */
export function instantOf(time: string): number {
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time) ?? [];
  return Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`);
}

/**
 * Returns the text that the client signs. In this text, the path is encoded a second time (except for S3), the query is
 * sorted, and only the signed headers appear.
 */
function canonical({ method, path, query, headers, signed, scope, payload }: SignedRequest): string {
  const isS3 = scope.endsWith("/s3/aws4_request");
  const lines = signed.map(
    (name) =>
      `${name}:${String(headers[name] ?? "")
        .trim()
        .replace(/\s+/g, " ")}\n`,
  );
  const pairs = query.map(([name, value]) => [encoded(name), encoded(value)] as const).sort(byNameAndValue);
  return [
    method,
    isS3 ? path : path.split("/").map(encoded).join("/"),
    pairs.map((pair) => pair.join("=")).join("&"),
    lines.join(""),
    signed.join(";"),
    payload,
  ].join("\n");
}

type Pair = readonly [name: string, value: string];

function byNameAndValue([name, value]: Pair, [otherName, otherValue]: Pair): number {
  if (name !== otherName) return name < otherName ? -1 : 1;
  return value < otherValue ? -1 : 1;
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
