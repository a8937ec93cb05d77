import { PutObjectCommand } from "@aws-sdk/client-s3";
import type { Upload, UploadStore } from "@nova/service";
import { placeObject } from "../s3/blob-store.ts";
import type { BucketConnection } from "../s3/objects.ts";
import { current, numbers, optionalTexts, texts } from "./fields.ts";
import { found, indexed, place, record, type TableConnection, write } from "./records.ts";

/** What people send for runs to come: what was said of it in the table, the bytes below `uploads/`. */
export function createUploadStore(connection: TableConnection, bucket: BucketConnection): UploadStore {
  const uploads = uploadRecord(connection);
  return {
    create: (upload) => write(uploads.put(upload)),
    get: (id) => found(uploads.get({ id }), (item) => current(`upload "${id}"`, item)),
    sign: (upload, seconds) => sign(bucket, upload, seconds),
    place: (upload, home) => placeObject(bucket, uploadKey(upload), home),
  };
}

/** One prefix per client: deleting a client deletes it. */
function uploadKey({ client, id }: Pick<Upload, "client" | "id">): string {
  return `uploads/${client}/${id}`;
}

/** S3 takes what has exactly these headers, and of what has a checksum only the bytes that fit it. */
async function sign({ client, bucket }: BucketConnection, upload: Upload, expiresIn: number) {
  const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner");
  const { bytes, type, sha256 } = upload;
  const checksum = sha256 === undefined ? undefined : Buffer.from(sha256, "hex").toString("base64");
  const command = new PutObjectCommand({
    ...{ Bucket: bucket, Key: uploadKey(upload), ContentLength: bytes, ContentType: type },
    ...(checksum !== undefined && { ChecksumSHA256: checksum }),
  });
  const headers = {
    "content-length": String(bytes),
    "content-type": type,
    ...(checksum !== undefined && { "x-amz-checksum-sha256": checksum }),
  };
  const names = Object.keys(headers);
  const url = await getSignedUrl(client, command, {
    expiresIn,
    signableHeaders: new Set(["host", ...names]),
    unhoistableHeaders: new Set(names),
  });
  return { url, method: "PUT" as const, headers };
}

const uploadRecord = record(
  "upload",
  {
    ...texts("id", "client", "type", "createdAt"),
    ...optionalTexts("sha256"),
    ...numbers("bytes"),
    /** The table's time to live, seconds since the epoch. */
    ...numbers("expiresAt"),
  },
  { record: place("U#{id}", "U"), ofClient: indexed("by-client", "U#{client}", "{id}") },
);
