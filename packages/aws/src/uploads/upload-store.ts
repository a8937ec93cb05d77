import { PutObjectCommand } from "@aws-sdk/client-s3";
import type { Upload, UploadStore } from "@nova/service";
import { reaching } from "../clients/outage.ts";
import type { TableConnection } from "../dynamodb/connection.ts";
import { checkFormat, FORMAT } from "../dynamodb/format.ts";
import { consistently, plainly } from "../dynamodb/options.ts";
import { type UploadItem, uploadEntity } from "../dynamodb/uploads/upload-entity.ts";
import { whenAsked } from "../dynamodb/when-asked.ts";
import type { BucketConnection } from "../s3/connection.ts";
import { placeObject } from "./place-object.ts";

const store = "DynamoDB";

/** What people send for runs to come: what was said of it in the table, the bytes below `uploads/`. */
export function createUploadStore(connection: TableConnection, bucket: BucketConnection): UploadStore {
  const entity = whenAsked(() => uploadEntity(connection));
  return {
    async create(upload) {
      await reaching(store, () => entity.put(upload).go(plainly));
    },
    async get(id) {
      const { data } = await reaching(store, () => entity.get({ id }).go(consistently));
      return data ? uploadOf(data) : undefined;
    },
    sign: (upload, seconds) => sign(bucket, upload, seconds),
    place: (upload, home) => placeObject(bucket, uploadKey(upload), home),
  };
}

/** One prefix per client: deleting a client deletes it. */
export function uploadKey({ client, id }: Pick<Upload, "client" | "id">): string {
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

function uploadOf({ format, ...upload }: UploadItem): Upload {
  checkFormat(`upload "${upload.id}"`, format);
  return { ...upload, format: FORMAT };
}
