import { header } from "../body/receive.ts";
import type { Call, Operation } from "../call.ts";
import { S3Error } from "../errors.ts";
import { createBucket, deleteBucket, headBucket, listBuckets } from "./buckets.ts";
import { copyObject } from "./copy-object.ts";
import { deleteObject, deleteObjects } from "./delete-objects.ts";
import { getObject } from "./get-object.ts";
import { listObjectsV2 } from "./list-objects.ts";
import { abortMultipartUpload, completeMultipartUpload, createMultipartUpload, uploadPart } from "./multipart.ts";
import { putObject } from "./put-object.ts";

const operations = {
  ListBuckets: listBuckets,
  CreateBucket: createBucket,
  HeadBucket: headBucket,
  DeleteBucket: deleteBucket,
  ListObjectsV2: listObjectsV2,
  DeleteObjects: deleteObjects,
  PutObject: putObject,
  CopyObject: copyObject,
  GetObject: getObject,
  HeadObject: getObject,
  DeleteObject: deleteObject,
  CreateMultipartUpload: createMultipartUpload,
  UploadPart: uploadPart,
  CompleteMultipartUpload: completeMultipartUpload,
  AbortMultipartUpload: abortMultipartUpload,
} satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;

/** `subresource`: the query parameter that makes another operation of the same method and path. */
const routes: { on: "service" | "bucket" | "object"; method: string; subresource?: string; name: OperationName }[] = [
  { on: "service", method: "GET", name: "ListBuckets" },
  { on: "bucket", method: "PUT", name: "CreateBucket" },
  { on: "bucket", method: "HEAD", name: "HeadBucket" },
  { on: "bucket", method: "DELETE", name: "DeleteBucket" },
  { on: "bucket", method: "GET", subresource: "list-type", name: "ListObjectsV2" },
  { on: "bucket", method: "POST", subresource: "delete", name: "DeleteObjects" },
  { on: "object", method: "PUT", name: "PutObject" },
  { on: "object", method: "GET", name: "GetObject" },
  { on: "object", method: "HEAD", name: "HeadObject" },
  { on: "object", method: "DELETE", name: "DeleteObject" },
  { on: "object", method: "POST", subresource: "uploads", name: "CreateMultipartUpload" },
  { on: "object", method: "PUT", subresource: "uploadId", name: "UploadPart" },
  { on: "object", method: "POST", subresource: "uploadId", name: "CompleteMultipartUpload" },
  { on: "object", method: "DELETE", subresource: "uploadId", name: "AbortMultipartUpload" },
];

/** Parameters that name another operation; one that is not in the routes must not be taken for the plain one. */
const subresources = new Set(
  "acl cors delete encryption legal-hold lifecycle list-type location logging notification object-lock policy replication restore retention select tagging torrent uploadId uploads versioning versions website".split(
    " ",
  ),
);

export function operationOf({ request, bucket, key, query }: Omit<Call, "store" | "uploads">): OperationName {
  const on = key ? "object" : bucket ? "bucket" : "service";
  const subresource = [...query.keys()].find((name) => subresources.has(name));
  const route = routes.find((one) => one.on === on && one.method === request.method && one.subresource === subresource);
  if (!route) {
    const what = `${request.method} of a ${on}${subresource ? ` with ?${subresource}` : ""}`;
    throw new S3Error("NotImplemented", `The local S3 has no ${what}.`);
  }
  return route.name === "PutObject" && header(request, "x-amz-copy-source") ? "CopyObject" : route.name;
}

export function runOperation(name: OperationName, call: Call): Promise<void> {
  return operations[name](call);
}
