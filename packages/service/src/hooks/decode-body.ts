import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { utf8In } from "@nova/workflow";
import { Refused } from "../errors.ts";

/** The same bound as for a request that is not compressed: AWS Lambda takes 6 MB of event. */
const maxBytes = 4 * 1024 * 1024;

const decoders = new Map([
  ["gzip", gunzipSync],
  ["x-gzip", gunzipSync],
  ["deflate", inflateSync],
  ["br", brotliDecompressSync],
]);

/** A body without its `content-encoding`. Throws `Refused` for another encoding, a damaged body, and one of over 4 MB. */
export function decompressed(bytes: Buffer, encoding = ""): Buffer {
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

/** The charset that a content-type states; absent: UTF-8. */
export function charsetOf(contentType: string): string {
  const [, quoted, plain] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]*))/i.exec(contentType) ?? [];
  return (quoted ?? plain ?? "").trim().toLowerCase() || "utf-8";
}

/** Text in the charset that its content-type states. Throws `Refused` for one that is not known, or that it is not in. */
export function decodedText(bytes: Uint8Array, contentType: string, what = "its body"): string {
  const charset = charsetOf(contentType);
  if (/^(?:utf-?8|us-ascii)$/.test(charset)) {
    const text = utf8In(bytes);
    if (text !== undefined) return text;
    const type = contentType.split(";")[0]?.trim();
    throw new Refused(
      `${what} says that it is ${type} and is not UTF-8 text - state its charset, or another content-type`,
    );
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
