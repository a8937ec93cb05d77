import { pipeline } from "node:stream/promises";
import { header } from "../body/receive.ts";
import type { Call, Operation } from "../call.ts";
import { S3Error } from "../errors.ts";
import { type ObjectInfo, preconditionFailed } from "../store/object-file.ts";
import { checksumHeaders, quoteEtag, unquoted } from "./object-headers.ts";

/** The file stays open to the end, so an overwrite does not change the response. */
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
  /** Inclusive. */
  end: number;
}

function headersOf({ request, query }: Call, info: ObjectInfo, range: Range | undefined): Record<string, string> {
  const overrides = [...query].filter(([name]) => name.startsWith("response-"));
  // The checksum covers the whole object; with a part, clients would compare it with the part.
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

/** Parses `bytes=a-b`, `bytes=a-` or `bytes=-n`. S3 ignores other ranges. */
function rangeOf(text: string, bytes: number): Range | undefined {
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(text) ?? [];
  if (from === "" && to === "") return undefined;
  const start = from === "" ? Math.max(0, bytes - Number(to)) : Number(from);
  const end = from === "" || to === "" ? bytes - 1 : Math.min(Number(to), bytes - 1);
  if (start >= bytes) throw new S3Error("InvalidRange", "The requested range is not satisfiable");
  return start > end ? undefined : { start, end };
}
