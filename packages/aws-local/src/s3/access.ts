import type { IncomingMessage } from "node:http";
import type { Access, Refusal } from "../access/access.ts";
import { algorithm, instantOf, vouchesFor } from "../access/signature.ts";
import { header } from "./body/receive.ts";
import { S3Error } from "./errors.ts";

const maxSeconds = 7 * 24 * 60 * 60;

/**
 * The codes and messages with which S3 refuses a request. Services with JSON responses use other names for the same
 * refusals.
 */
const refusals: Record<Refusal, readonly [code: string, message: string]> = {
  unsigned: ["AccessDenied", "Access Denied"],
  stranger: ["InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records."],
  malformed: ["AuthorizationHeaderMalformed", "The authorization header that you provided is not valid."],
  partial: ["AccessDenied", "There were headers present in the request which were not signed"],
  skewed: ["RequestTimeTooSkewed", "The difference between the request time and the current time is too large."],
  forged: [
    "SignatureDoesNotMatch",
    "The request signature we calculated does not match the signature you provided. Check your key and signing method.",
  ],
};

function refuse(refusal: Refusal): never {
  throw new S3Error(...refusals[refusal]);
}

const payloads = /^([0-9a-f]{64}|UNSIGNED-PAYLOAD|STREAMING-[A-Z0-9-]+)$/;

/** Checks the signature, which is in the headers or (presigned) in the address. Throws S3's error. */
export function checkAccess(request: IncomingMessage, query: URLSearchParams, access: Access): void {
  if (query.has("X-Amz-Algorithm") || query.has("X-Amz-Signature")) {
    checkPresigned(request, query, access);
    return;
  }
  const payload = header(request, "x-amz-content-sha256");
  const refused = access.refusalOf(request, payload);
  if (refused) refuse(refused);
  if (payloads.test(payload)) return;
  throw new S3Error("InvalidArgument", "x-amz-content-sha256 must be a SHA-256, UNSIGNED-PAYLOAD or STREAMING-...");
}

/** Checks a presigned address: its signature, its expiry and its headers (Signature Version 4, query). */
function checkPresigned(request: IncomingMessage, query: URLSearchParams, access: Access): void {
  const { method = "", url = "/", headers } = request;
  const [keyId = "", ...scope] = parameter(query, "Credential").split("/");
  const [, , service, end] = scope;
  if (parameter(query, "Algorithm") !== algorithm || service !== "s3" || end !== "aws4_request" || scope.length !== 4) {
    throw new S3Error("AuthorizationQueryParametersError", "X-Amz-Algorithm only supports AWS4-HMAC-SHA256.");
  }
  if (keyId !== access.keyId) refuse("stranger");
  refuseExpired(query);
  const signed = parameter(query, "SignedHeaders").split(";");
  if (!vouchesFor(headers, signed)) refuse("partial");
  const asSigned = {
    method,
    headers,
    signed,
    path: url.split("?")[0] ?? "",
    query: Array.from(query).filter(([name]) => name !== "X-Amz-Signature"),
    time: parameter(query, "Date"),
    scope: scope.join("/"),
    payload: header(request, "x-amz-content-sha256") || parameter(query, "Content-Sha256") || "UNSIGNED-PAYLOAD",
  };
  if (!access.signatures.match(asSigned, parameter(query, "Signature"))) refuse("forged");
}

function refuseExpired(query: URLSearchParams): void {
  const seconds = Number(parameter(query, "Expires"));
  const begin = instantOf(parameter(query, "Date"));
  if (Number.isNaN(begin) || !(seconds > 0 && seconds <= maxSeconds)) {
    throw new S3Error("AuthorizationQueryParametersError", "X-Amz-Date and X-Amz-Expires must say a time.");
  }
  if (Date.now() > begin + seconds * 1000) throw new S3Error("AccessDenied", "Request has expired");
}

function parameter(query: URLSearchParams, name: string): string {
  return query.get(`X-Amz-${name}`) ?? "";
}
