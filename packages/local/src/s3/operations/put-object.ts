import type { IncomingMessage } from "node:http";
import { header, receiveBody } from "../body/receive.ts";
import type { Operation } from "../call.ts";
import { S3Error } from "../errors.ts";
import type { WriteCondition } from "../store/new-object.ts";
import { checksumHeaders, keptHeaders, quoted, unquoted } from "./object-headers.ts";

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
