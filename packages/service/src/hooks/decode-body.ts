import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { utf8In } from "@nova/workflow";
import { Refused } from "../errors.ts";

/**
 * Limit for a decompressed body. A body that arrives uncompressed has the same limit, since AWS Lambda accepts events
 * of 6 MB.
 */
const maxBytes = 4 * 1024 * 1024;

const decoders = new Map([
  ["gzip", gunzipSync],
  ["x-gzip", gunzipSync],
  ["deflate", inflateSync],
  ["br", brotliDecompressSync],
]);

/**
 * Decompresses a body by its `content-encoding`. Throws `Refused` for an unknown encoding, for a damaged body, and if
 * the decompressed body has more than 4 MB.
 */
export function decompressBody(bytes: Buffer, encoding = ""): Buffer {
  const name = encoding.trim().toLowerCase();
  if (name === "" || name === "identity" || bytes.length === 0) return bytes;
  const decode = decoders.get(name);
  const shown = JSON.stringify(encoding.slice(0, 40));
  if (!decode) throw new Refused(`its content-encoding ${shown} is not known - send gzip, deflate, br or none`);
  try {
    return decode(bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    const isLarge = (cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    const problem = isLarge ? `has more than ${maxBytes} bytes once decoded` : `is not encoded as ${shown} says`;
    throw new Refused(`its body ${problem} - ${isLarge ? "send less at once" : "correct it"}`, [], { cause });
  }
}

/** Decodes a body in the charset of its content-type, by default UTF-8. Throws `Refused` as `decodeText` does. */
export function decodeBodyText(bytes: Uint8Array, contentType: string): string {
  return decodeText(charsetOf(contentType), bytes, "its body");
}

/**
 * Decodes bytes. `what` names the bytes in messages. Throws `Refused` for an unknown charset, and for bytes that are
 * invalid in their charset.
 */
export function decodeText(charset = "utf-8", bytes: Uint8Array, what: string): string {
  if (/^(?:utf-?8|us-ascii)$/.test(charset)) {
    const text = utf8In(bytes);
    if (text !== undefined) return text;
    throw new Refused(`${what} is not UTF-8 text - state its charset, or another content-type`);
  }
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch (cause) {
    const shown = JSON.stringify(charset.slice(0, 40));
    const isUnknown = cause instanceof RangeError;
    const problem = isUnknown ? `states the charset ${shown}, which is not known` : `is no text in ${shown}`;
    throw new Refused(`${what} ${problem} - send UTF-8`, [], { cause });
  }
}

const parameter = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))\s*/gy;

/**
 * Returns the parameters of a header such as content-type, with lower-case names. A backslash escapes only a quote,
 * since browsers send Windows paths with plain backslashes.
 */
export function parametersOf(header: string): Map<string, string> {
  const start = header.indexOf(";");
  const rest = start === -1 ? "" : header.slice(start);
  const found = rest.matchAll(parameter);
  return new Map(
    Array.from(found, ([, name = "", quoted, plain = ""]) => [
      name.toLowerCase(),
      quoted?.replaceAll('\\"', '"') ?? plain.trim(),
    ]),
  );
}

/** Returns the charset of a content-type; undefined if it has none. */
export function charsetOf(contentType: string): string | undefined {
  return parametersOf(contentType).get("charset")?.trim().toLowerCase() || undefined;
}
