import type { IncomingMessage } from "node:http";
import type { ObjectInfo } from "../store/object-file.ts";

const kept = [
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-type",
  "expires",
];

/**
 * Returns the headers that a put stores and a get returns. Removes `aws-chunked` from the content encoding, because
 * only the upload has this encoding.
 */
export function keptHeaders(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === "string" && (kept.includes(name) || name.startsWith("x-amz-meta-"))) headers[name] = value;
  }
  const encodings = (headers["content-encoding"] ?? "").split(",").map((encoding) => encoding.trim());
  const own = encodings.filter((encoding) => encoding && encoding !== "aws-chunked");
  const { "content-encoding": _, ...others } = headers;
  return own.length > 0 ? { ...others, "content-encoding": own.join(",") } : others;
}

export function checksumHeaders({ checksums }: Pick<ObjectInfo, "checksums">): Record<string, string> {
  const entries = Object.entries(checksums);
  if (entries.length === 0) return {};
  return {
    ...Object.fromEntries(entries.map(([algorithm, value]) => [`x-amz-checksum-${algorithm}`, value])),
    "x-amz-checksum-type": "FULL_OBJECT",
  };
}

export function quoteEtag(etag: string): string {
  return `"${etag}"`;
}

export function unquoted(etag: string): string {
  return etag.trim().replace(/^W\//, "").replaceAll('"', "");
}
