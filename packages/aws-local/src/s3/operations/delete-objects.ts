import { receiveBody } from "../body/receive.ts";
import type { Call, Operation } from "../call.ts";
import { S3Error } from "../errors.ts";
import { readElements, sendResult, textOf } from "../xml.ts";

/** Deletes an object. As in S3, the response is the same if the object does not exist. */
export const deleteObject: Operation = async ({ store, response, bucket, key }) => {
  await store.delete(bucket, key);
  response.writeHead(204).end();
};

const maxKeys = 1000;

export const deleteObjects: Operation = async (call) => {
  const { store, response, bucket } = call;
  const xml = await readXml(call);
  const keys = readElements(xml, "Object").map((object) => textOf(object, "Key"));
  if (keys.length === 0 || keys.length > maxKeys || keys.includes(undefined)) {
    throw new S3Error("MalformedXML", "The XML you provided was not well-formed.");
  }
  for (const key of keys) await store.delete(bucket, key as string);
  const isQuiet = textOf(xml, "Quiet") === "true";
  const deleted = isQuiet ? [] : keys.map((key) => ({ Key: key }));
  sendResult(response, "DeleteResult", { Deleted: deleted });
};

const maxXml = 4 * 1024 * 1024;

async function readXml({ request }: Pick<Call, "request">): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  await receiveBody(request, async (chunk) => {
    bytes += chunk.length;
    if (bytes > maxXml) throw new S3Error("MalformedXML", "The XML you provided is too long.");
    chunks.push(chunk);
  });
  return Buffer.concat(chunks).toString();
}
