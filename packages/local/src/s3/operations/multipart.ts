import { header, receiveBody } from "../body/receive.ts";
import type { Call, Operation } from "../call.ts";
import { S3Error } from "../errors.ts";
import type { PartName } from "../store/multipart-uploads.ts";
import { elementsOf, sendResult, textOf } from "../xml.ts";
import { readXml } from "./delete-objects.ts";
import { checksumHeaders, keptHeaders, quoted, unquoted } from "./object-headers.ts";
import { isFirst } from "./put-object.ts";

export const createMultipartUpload: Operation = async ({ request, response, uploads, bucket, key }) => {
  const id = await uploads.create({ bucket, key, headers: keptHeaders(request) });
  sendResult(response, "InitiateMultipartUploadResult", { Bucket: bucket, Key: key, UploadId: id });
};

const maxParts = 10_000;

export const uploadPart: Operation = async (call) => {
  const { request, response, uploads, query } = call;
  const number = Number(query.get("partNumber"));
  if (!Number.isInteger(number) || number < 1 || number > maxParts) {
    throw new S3Error("InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive");
  }
  const id = await uploadId(call);
  const part = await uploads.putPart(id, number, async (write) => {
    if (header(request, "expect")) response.writeContinue();
    const { bytes, md5, checksums } = await receiveBody(request, write);
    return { bytes, etag: md5, headers: {}, checksums };
  });
  response.writeHead(200, { etag: quoted(part.etag), ...checksumHeaders(part) }).end();
};

export const completeMultipartUpload: Operation = async (call) => {
  const { request, response, uploads, bucket, key } = call;
  const id = await uploadId(call);
  const upload = await uploads.find(id, bucket, key);
  const names = partNames(await readXml(call));
  const info = await uploads.complete(id, upload, names, isFirst(request));
  const result = { Location: `/${bucket}/${key}`, Bucket: bucket, Key: key, ETag: quoted(info.etag) };
  sendResult(response, "CompleteMultipartUploadResult", result);
};

export const abortMultipartUpload: Operation = async (call) => {
  await call.uploads.abort(await uploadId(call));
  call.response.writeHead(204).end();
};

/** Throws where there is no such upload. */
async function uploadId({ uploads, query, bucket, key }: Call): Promise<string> {
  const id = query.get("uploadId") ?? "";
  await uploads.find(id, bucket, key);
  return id;
}

function partNames(xml: string): PartName[] {
  const names = elementsOf(xml, "Part").map((part) => ({
    number: Number(textOf(part, "PartNumber")),
    etag: unquoted(textOf(part, "ETag") ?? ""),
  }));
  if (names.length === 0) throw new S3Error("MalformedXML", "The XML you provided was not well-formed.");
  if (names.some(({ number }, index) => index > 0 && number <= (names[index - 1] as PartName).number)) {
    throw new S3Error("InvalidPartOrder", "The list of parts was not in ascending order.");
  }
  return names;
}
