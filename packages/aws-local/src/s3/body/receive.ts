import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Crc32, Crc32c, Crc64NvmeJs } from "@aws-sdk/checksums/crc";
import { S3Error } from "../errors.ts";
import { decodeChunks, type Trailers } from "./aws-chunked.ts";

/** The algorithms in the names of the headers `x-amz-checksum-<algorithm>`. */
const checksumAlgorithms = ["crc32", "crc32c", "crc64nvme", "sha1", "sha256"] as const;
export type ChecksumAlgorithm = (typeof checksumAlgorithms)[number];

/** A checksum that is computed piece by piece. Its digest has the most significant byte first. */
interface Checksum {
  update(chunk: Uint8Array): unknown;
  digest(): Uint8Array | Promise<Uint8Array>;
}

function createChecksum(algorithm: ChecksumAlgorithm | "md5"): Checksum {
  if (algorithm === "crc32") return new Crc32();
  if (algorithm === "crc32c") return new Crc32c();
  if (algorithm === "crc64nvme") return new Crc64NvmeJs();
  return createHash(algorithm);
}

export interface ReceivedBody {
  bytes: number;
  /** The MD5 of the body, in hex. */
  md5: string;
  /** The checksums in base64, for the algorithms that the request named. */
  checksums: Partial<Record<ChecksumAlgorithm, string>>;
}

/**
 * Reads the body of a request into `sink`, and compares it with the headers and trailers: its length, Content-MD5,
 * `x-amz-content-sha256` and `x-amz-checksum-*`. Throws S3's error if they differ.
 */
export async function receiveBody(
  request: IncomingMessage,
  sink: (chunk: Buffer) => Promise<void>,
): Promise<ReceivedBody> {
  const trailers: Trailers = new Map();
  const announced = announcedAlgorithms(request);
  const contentSha256 = /^[0-9a-f]{64}$/.exec(header(request, "x-amz-content-sha256"))?.[0];
  const wanted = new Set(["md5" as const, ...announced, ...(contentSha256 ? ["sha256" as const] : [])]);
  const running = new Map([...wanted].map((algorithm) => [algorithm, createChecksum(algorithm)]));
  let bytes = 0;
  for await (const chunk of isChunked(request) ? decodeChunks(request, trailers) : request) {
    bytes += chunk.length;
    for (const checksum of running.values()) checksum.update(chunk);
    await sink(chunk);
  }
  const digests = new Map<ChecksumAlgorithm | "md5", Buffer>();
  for (const [algorithm, checksum] of running) digests.set(algorithm, Buffer.from(await checksum.digest()));
  checkLength(request, bytes);
  checkMd5(request, digests.get("md5") as Buffer);
  if (contentSha256 && digests.get("sha256")?.toString("hex") !== contentSha256) {
    throw new S3Error("XAmzContentSHA256Mismatch", "The provided 'x-amz-content-sha256' header does not match.");
  }
  const checksums: ReceivedBody["checksums"] = {};
  for (const algorithm of announced) {
    const actual = (digests.get(algorithm) as Buffer).toString("base64");
    checkChecksum(algorithm, actual, request, trailers);
    checksums[algorithm] = actual;
  }
  return { bytes, md5: (digests.get("md5") as Buffer).toString("hex"), checksums };
}

/** Returns the length of the object, without the framing of chunks; undefined if no header says it. */
export function readContentLength(request: IncomingMessage): number | undefined {
  const length = header(request, "x-amz-decoded-content-length") || header(request, "content-length");
  return length === "" ? undefined : Number(length);
}

export function header(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === "string" ? value : (value?.[0] ?? "");
}

function isChunked(request: IncomingMessage): boolean {
  const encodings = header(request, "content-encoding").split(",");
  const isStreaming = header(request, "x-amz-content-sha256").startsWith("STREAMING-");
  return isStreaming || encodings.some((encoding) => encoding.trim() === "aws-chunked");
}

function announcedAlgorithms(request: IncomingMessage): ChecksumAlgorithm[] {
  const trailing = header(request, "x-amz-trailer").toLowerCase().split(",");
  const named = header(request, "x-amz-sdk-checksum-algorithm").toLowerCase();
  return checksumAlgorithms.filter((algorithm) => {
    const name = `x-amz-checksum-${algorithm}`;
    return name in request.headers || trailing.some((trailer) => trailer.trim() === name) || named === algorithm;
  });
}

function checkLength(request: IncomingMessage, bytes: number): void {
  const announced = readContentLength(request);
  if (announced === undefined || announced === bytes) return;
  throw new S3Error(
    "IncompleteBody",
    "You did not provide the number of bytes specified by the Content-Length header.",
  );
}

function checkMd5(request: IncomingMessage, md5: Buffer): void {
  const given = header(request, "content-md5");
  if (!given) return;
  if (Buffer.from(given, "base64").length !== md5.length) {
    throw new S3Error("InvalidDigest", "The Content-MD5 you specified was invalid.");
  }
  if (given !== md5.toString("base64")) {
    throw new S3Error("BadDigest", "The Content-MD5 you specified did not match what we received.");
  }
}

function checkChecksum(
  algorithm: ChecksumAlgorithm,
  actual: string,
  request: IncomingMessage,
  trailers: Trailers,
): void {
  const name = `x-amz-checksum-${algorithm}`;
  const given = header(request, name) || trailers.get(name);
  if (!given) {
    if (!header(request, "x-amz-trailer").toLowerCase().includes(name)) return;
    throw new S3Error("InvalidRequest", `The trailer ${name} was announced and did not come.`);
  }
  if (given.length !== actual.length) {
    throw new S3Error("InvalidRequest", `Value for ${name} header is invalid.`);
  }
  if (given === actual) return;
  throw new S3Error("BadDigest", `The ${algorithm.toUpperCase()} you specified did not match the calculated checksum.`);
}
