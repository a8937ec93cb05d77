import type { IncomingMessage } from "node:http";
import { header, receiveBody } from "../body/receive.ts";
import { type Operation, parseAddress } from "../call.ts";
import { S3Error } from "../errors.ts";
import { preconditionFailed } from "../store/object-file.ts";
import { sendResult } from "../xml.ts";
import { checksumHeaders, keptHeaders, quoteEtag, unquoted } from "./object-headers.ts";

export const putObject: Operation = async ({ request, response, store, bucket, key, onCreated }) => {
  const info = await store.put(bucket, key, isFirst(conditionsOf(request)), async (write) => {
    // A client that sent `Expect: 100-continue` sends the body only after this response. So if the put is refused
    // earlier, nothing is uploaded.
    if (header(request, "expect")) response.writeContinue();
    const { bytes, md5, checksums } = await receiveBody(request, write);
    return { bytes, etag: md5, headers: keptHeaders(request), checksums };
  });
  onCreated?.({ bucket, key, bytes: info.bytes });
  response.writeHead(200, { etag: quoteEtag(info.etag), ...checksumHeaders(info) }).end();
};

interface Conditions {
  ifNoneMatch: string;
  ifMatch?: string;
}

function conditionsOf(request: IncomingMessage): Conditions {
  return { ifNoneMatch: header(request, "if-none-match"), ifMatch: header(request, "if-match") };
}

/**
 * Returns whether a put must fail if the object exists. `If-None-Match: *` requests this; any other condition is
 * refused.
 */
export function isFirst({ ifNoneMatch, ifMatch }: Conditions): boolean {
  if (["", "*"].includes(ifNoneMatch) && !ifMatch) return ifNoneMatch === "*";
  throw new S3Error("NotImplemented", "The local S3 has no condition of a write but If-None-Match: *.");
}

export const copyObject: Operation = async ({ request, response, store, bucket, key }) => {
  const from = parseAddress(`/${header(request, "x-amz-copy-source").replace(/^\//, "")}`);
  await using source = await store.get(from.bucket, from.key);
  const { bytes, etag, checksums, headers } = source.info;
  const ifMatch = header(request, "x-amz-copy-source-if-match");
  if (ifMatch && unquoted(ifMatch) !== etag) throw preconditionFailed();
  const isReplaced = header(request, "x-amz-metadata-directive") === "REPLACE";
  const copy = await store.put(bucket, key, isFirst(conditionsOf(request)), async (write) => {
    const whole = bytes > 0 ? source.file.createReadStream({ start: 0, end: bytes - 1, autoClose: false }) : [];
    for await (const chunk of whole) await write(chunk);
    return { bytes, etag, checksums, headers: isReplaced ? keptHeaders(request) : headers };
  });
  const result = { ETag: quoteEtag(etag), LastModified: new Date(copy.modifiedMs).toISOString() };
  sendResult(response, "CopyObjectResult", result);
};
