import { describeServed } from "../../aws-http/request.ts";
import { header } from "../body/receive.ts";
import type { Call, Operation } from "../call.ts";
import { S3Error } from "../errors.ts";
import { createBucket, headBucket, listBuckets, listObjectsV2 } from "./buckets.ts";
import { deleteObject, deleteObjects } from "./delete-objects.ts";
import { getObject } from "./get-object.ts";
import { copyObject, putObject } from "./put-object.ts";

interface Route {
  on: "service" | "bucket" | "object";
  method: string;
  name: string;
  run: Operation;
  /** The query parameter that distinguishes this operation from others with the same method and path. */
  subresource?: string;
  /** Matches the other query parameters that the operation may have. */
  parameters?: RegExp;
}

const putting: Route = { on: "object", method: "PUT", name: "PutObject", run: putObject };
const routes: Route[] = [
  { on: "service", method: "GET", name: "ListBuckets", run: listBuckets },
  { on: "bucket", method: "PUT", name: "CreateBucket", run: createBucket },
  { on: "bucket", method: "HEAD", name: "HeadBucket", run: headBucket },
  {
    on: "bucket",
    method: "GET",
    subresource: "list-type",
    name: "ListObjectsV2",
    run: listObjectsV2,
    parameters: /^(prefix|delimiter|max-keys|encoding-type|continuation-token|start-after|fetch-owner)$/,
  },
  { on: "bucket", method: "POST", subresource: "delete", name: "DeleteObjects", run: deleteObjects },
  putting,
  { on: "object", method: "GET", name: "GetObject", run: getObject, parameters: /^response-/ },
  { on: "object", method: "HEAD", name: "HeadObject", run: getObject, parameters: /^response-/ },
  { on: "object", method: "DELETE", name: "DeleteObject", run: deleteObject },
];
const copying: Route = { ...putting, name: "CopyObject", run: copyObject };

/**
 * Matches the query parameters that every operation may have: those of a signature, and `x-id`, which some SDKs add
 * with the name of the operation.
 */
const ofAnyOperation = /^x-(amz-.*|id)$/i;

/**
 * Chooses the operation of a request. Refuses a request with an unknown query parameter, because it is dangerous to
 * ignore the parameter. In S3, for example, `DELETE /bucket?publicAccessBlock` does not delete the bucket.
 */
export function chooseOperation({ request, bucket, key, query }: Omit<Call, "store">): Route {
  const on = key ? "object" : bucket ? "bucket" : "service";
  const parameters = [...query.keys()].filter((name) => !ofAnyOperation.test(name));
  const route = routes.find((one) => one.on === on && one.method === request.method && takes(one, parameters));
  if (!route) {
    const what = `${request.method} of ${placeOf[on]}${parameters.length > 0 ? ` with ?${parameters.join("&")}` : ""}`;
    const served = [...routes, copying].map(({ name }) => name);
    throw new S3Error("NotImplemented", describeServed("S3", what, served));
  }
  return route === putting && header(request, "x-amz-copy-source") ? copying : route;
}

const placeOf = { service: "all buckets", bucket: "a bucket", object: "an object" };

function takes({ subresource, parameters }: Route, given: string[]): boolean {
  if (subresource !== undefined && !given.includes(subresource)) return false;
  return given.every((name) => name === subresource || parameters?.test(name));
}
