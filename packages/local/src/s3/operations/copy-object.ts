import { header } from "../body/receive.ts";
import { addressOf, type Operation } from "../call.ts";
import { preconditionFailed } from "../store/new-object.ts";
import { resultDocument } from "../xml.ts";
import { checksumFields, keptHeaders, quoted, unquoted } from "./object-headers.ts";
import { writeCondition } from "./put-object.ts";

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
  response.setHeader("content-type", "application/xml");
  response.end(resultDocument("CopyObjectResult", result));
};
