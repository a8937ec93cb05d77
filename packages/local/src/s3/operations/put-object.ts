import type { IncomingMessage } from "node:http";
import { header, receiveBody } from "../body/receive.ts";
import { addressOf, type Operation } from "../call.ts";
import { S3Error } from "../errors.ts";
import { preconditionFailed, type WriteCondition } from "../store/object-file.ts";
import { sendResult } from "../xml.ts";
import { checksumFields, checksumHeaders, keptHeaders, quoted, unquoted } from "./object-headers.ts";

export const putObject: Operation = async ({ request, response, store, bucket, key, onCreated }) => {
  const info = await store.put(bucket, key, writeCondition(request), async (write) => {
    // The client waits for this before it sends a large body, so a refusal above costs no upload.
    if (header(request, "expect")) response.writeContinue();
    const { bytes, md5, checksums } = await receiveBody(request, write);
    return { bytes, etag: md5, headers: keptHeaders(request), checksums };
  });
  onCreated?.({ bucket, key, bytes: info.bytes });
  response.writeHead(200, { etag: quoted(info.etag), ...checksumHeaders(info) }).end();
};

export function writeCondition(request: IncomingMessage): WriteCondition {
  const ifNoneMatch = header(request, "if-none-match");
  const ifMatch = header(request, "if-match");
  if (ifNoneMatch && ifNoneMatch !== "*") {
    throw new S3Error("NotImplemented", "If-None-Match of a write takes nothing but *.");
  }
  return { ifNoneMatch: ifNoneMatch === "*", ...(ifMatch && { ifMatch: unquoted(ifMatch) }) };
}

export const copyObject: Operation = async ({ request, response, store, bucket, key }) => {
  const from = addressOf(`/${header(request, "x-amz-copy-source").replace(/^\//, "")}`);
  await using source = await store.get(from.bucket, from.key);
  const { bytes, etag, checksums, headers } = source.info;
  const ifMatch = header(request, "x-amz-copy-source-if-match");
  if (ifMatch && unquoted(ifMatch) !== etag) throw preconditionFailed();
  const isReplaced = header(request, "x-amz-metadata-directive") === "REPLACE";
  const copy = await store.put(bucket, key, writeCondition(request), async (write) => {
    const whole = bytes > 0 ? source.file.createReadStream({ start: 0, end: bytes - 1, autoClose: false }) : [];
    for await (const chunk of whole) await write(chunk);
    return { bytes, etag, checksums, headers: isReplaced ? keptHeaders(request) : headers };
  });
  const result = { ETag: quoted(etag), LastModified: new Date(copy.modifiedMs).toISOString(), ...checksumFields(copy) };
  sendResult(response, "CopyObjectResult", result);
};
