import { pipeline } from "node:stream/promises";
import { header } from "../body/receive.ts";
import type { Call, Operation } from "../call.ts";
import { S3Error } from "../errors.ts";
import { type ObjectInfo, preconditionFailed } from "../store/object-file.ts";
import { checksumHeaders, quoteEtag, unquoted } from "./object-headers.ts";

/**
 * Sends an object or a range of it. The file of the object stays open until all bytes are sent. So if a put replaces
 * the object meanwhile, the client still gets the old object.
 */
export const getObject: Operation = async (call) => {
  const { request, response, store, bucket, key } = call;
  await using object = await store.get(bucket, key);
  const { info, file } = object;
  const ifMatch = header(request, "if-match");
  if (ifMatch && ifMatch !== "*" && unquoted(ifMatch) !== info.etag) throw preconditionFailed();
  const range = rangeOf(header(request, "range"), info.bytes);
  response.writeHead(range ? 206 : 200, headersOf(call, info, range));
  const { start, end } = range ?? { start: 0, end: info.bytes - 1 };
  if (request.method === "HEAD" || end < start) {
    response.end();
    return;
  }
  await pipeline(file.createReadStream({ start, end, autoClose: false, highWaterMark: 256 * 1024 }), response);
};

interface Range {
  start: number;
  /** The offset of the last byte of the range. */
  end: number;
}

function headersOf({ request, query }: Call, info: ObjectInfo, range: Range | undefined): Record<string, string> {
  const overrides = [...query].filter(([name]) => name.startsWith("response-"));
  // A range gets no checksum: the stored one covers the whole object, and clients would compare the range with it.
  const wantsChecksum = header(request, "x-amz-checksum-mode").toUpperCase() === "ENABLED" && !range;
  return {
    "content-type": "binary/octet-stream",
    ...info.headers,
    ...Object.fromEntries(overrides.map(([name, value]) => [name.slice("response-".length), value])),
    "accept-ranges": "bytes",
    "content-length": String(range ? range.end - range.start + 1 : info.bytes),
    "last-modified": new Date(info.modifiedMs).toUTCString(),
    etag: quoteEtag(info.etag),
    ...(range && { "content-range": `bytes ${range.start}-${range.end}/${info.bytes}` }),
    ...(wantsChecksum && checksumHeaders(info)),
  };
}

/**
 * Parses `bytes=a-b`, `bytes=a-` or `bytes=-n`. Returns undefined for any other text: S3 then sends the whole object.
 */
export function rangeOf(text: string, bytes: number): Range | undefined {
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(text) ?? [];
  if (from === "" && to === "") return undefined;
  const start = from === "" ? Math.max(0, bytes - Number(to)) : Number(from);
  const end = from === "" || to === "" ? bytes - 1 : Math.min(Number(to), bytes - 1);
  if (start >= bytes) throw new S3Error("InvalidRange", "The requested range is not satisfiable");
  return start > end ? undefined : { start, end };
}
