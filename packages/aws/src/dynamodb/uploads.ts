import { PutObjectCommand } from "@aws-sdk/client-s3";
import type { Upload, UploadStore } from "@nova/service";
import { forSigning } from "../clients/own-services.ts";
import { placeObject } from "../s3/blob-store.ts";
import type { BucketConnection } from "../s3/objects.ts";
import * as db from "./records.ts";

/**
 * Creates the store of files that people upload for future runs. The metadata are in the table, and the bytes are under
 * `uploads/` in the bucket.
 */
export function createUploadStore(connection: db.TableConnection, bucket: BucketConnection): UploadStore {
  const uploads = uploadRecord(connection);
  return {
    create: (upload) => db.writeItem(uploads.put(upload)),
    get: (id) => db.findItem(uploads.get({ id }), (item) => db.requireFormat(`upload "${id}"`, item)),
    sign: (upload, seconds) => sign(bucket, upload, seconds),
    place: (upload, home) => placeObject(bucket, uploadKey(upload), home),
  };
}

/**
 * Returns the key of an upload. All keys of a client have one prefix, so that an erasure of the client deletes that
 * prefix.
 */
function uploadKey({ client, id }: Pick<Upload, "client" | "id">): string {
  return `uploads/${client}/${id}`;
}

/**
 * Signs the PUT request of an upload. S3 accepts the request only with exactly the signed headers, and with bytes that
 * match the checksum.
 */
async function sign({ client, bucket }: BucketConnection, upload: Upload, expiresIn: number) {
  const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner");
  const { bytes, type, sha256 } = upload;
  const checksum = sha256 === undefined ? undefined : Buffer.from(sha256, "hex").toString("base64");
  const command = new PutObjectCommand({
    Bucket: bucket,
    Key: uploadKey(upload),
    ContentLength: bytes,
    ContentType: type,
    ...(checksum !== undefined && { ChecksumSHA256: checksum }),
  });
  const headers = {
    "content-length": String(bytes),
    "content-type": type,
    ...(checksum !== undefined && { "x-amz-checksum-sha256": checksum }),
  };
  const names = Object.keys(headers);
  const url = await getSignedUrl(forSigning(client), command, {
    expiresIn,
    signableHeaders: new Set(["host", ...names]),
    unhoistableHeaders: new Set(names),
  });
  return { url, method: "PUT" as const, headers };
}

const uploadRecord = db.record(
  "upload",
  {
    ...db.texts("id", "client", "type", "createdAt"),
    ...db.optionalTexts("sha256"),
    ...db.numbers("bytes", "expiresAt"),
  },
  { record: db.tableKeys("U#{id}", "U"), ofClient: db.indexKeys("by-client", "U#{client}", "{id}") },
);
