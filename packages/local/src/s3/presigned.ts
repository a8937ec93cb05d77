import type { IncomingMessage } from "node:http";
import { algorithm, instantOf, type Signatures, vouchesFor } from "../access/signature.ts";
import { header } from "./body/receive.ts";
import { S3Error } from "./errors.ts";

const longestSeconds = 7 * 24 * 60 * 60;

export const mismatch =
  "The request signature we calculated does not match the signature you provided. Check your key and signing method.";

/** Whether a request carries its signature in its address (Signature Version 4, query parameters). */
export function isPresigned(query: URLSearchParams): boolean {
  return query.has("X-Amz-Algorithm") || query.has("X-Amz-Signature");
}

/** Throws what S3 answers to an address that was not signed with this key, is over, or comes with other headers. */
export function checkPresigned(
  request: IncomingMessage,
  query: URLSearchParams,
  accessKeyId: string,
  signatures: Signatures,
): void {
  const { method = "", url = "/", headers } = request;
  const [keyId = "", ...scope] = parameter(query, "Credential").split("/");
  const [, , service, end] = scope;
  if (parameter(query, "Algorithm") !== algorithm || service !== "s3" || end !== "aws4_request" || scope.length !== 4) {
    throw new S3Error("AuthorizationQueryParametersError", "X-Amz-Algorithm only supports AWS4-HMAC-SHA256.");
  }
  if (keyId !== accessKeyId) {
    throw new S3Error("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.");
  }
  refuseExpired(query);
  const signed = parameter(query, "SignedHeaders").split(";");
  if (!vouchesFor(headers, signed)) {
    throw new S3Error("AccessDenied", "There were headers present in the request which were not signed");
  }
  const asSigned = {
    ...{ method, headers, signed },
    path: url.split("?")[0] ?? "",
    query: Array.from(query).filter(([name]) => name !== "X-Amz-Signature"),
    time: parameter(query, "Date"),
    scope: scope.join("/"),
    payload: header(request, "x-amz-content-sha256") || parameter(query, "Content-Sha256") || "UNSIGNED-PAYLOAD",
  };
  if (!signatures.match(asSigned, parameter(query, "Signature"))) throw new S3Error("SignatureDoesNotMatch", mismatch);
}

function refuseExpired(query: URLSearchParams): void {
  const seconds = Number(parameter(query, "Expires"));
  const begin = instantOf(parameter(query, "Date"));
  if (Number.isNaN(begin) || !(seconds > 0 && seconds <= longestSeconds)) {
    throw new S3Error("AuthorizationQueryParametersError", "X-Amz-Date and X-Amz-Expires must say a time.");
  }
  if (Date.now() > begin + seconds * 1000) throw new S3Error("AccessDenied", "Request has expired");
}

function parameter(query: URLSearchParams, name: string): string {
  return query.get(`X-Amz-${name}`) ?? "";
}
