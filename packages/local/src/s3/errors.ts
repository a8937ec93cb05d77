import type { ServerResponse } from "node:http";
import { element, xmlDocument } from "../aws-http/xml.ts";

const statusOf = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  BadDigest: 400,
  BucketAlreadyOwnedByYou: 409,
  EntityTooSmall: 400,
  IncompleteBody: 400,
  InsufficientStorage: 507,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidBucketName: 400,
  InvalidDigest: 400,
  InvalidPart: 400,
  InvalidPartOrder: 400,
  InvalidRange: 416,
  InvalidRequest: 400,
  InvalidURI: 400,
  KeyTooLongError: 400,
  MalformedXML: 400,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  NotImplemented: 501,
  PreconditionFailed: 412,
  RequestTimeTooSkewed: 403,
  SignatureDoesNotMatch: 403,
  SlowDown: 503,
  XAmzContentSHA256Mismatch: 400,
} as const;

export type S3ErrorCode = keyof typeof statusOf;

/** What S3 refuses, by its own codes. */
export class S3Error extends Error {
  readonly code: S3ErrorCode;

  constructor(code: S3ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = code;
    this.code = code;
  }
}

/** A HEAD has no body to explain itself in: there the status alone tells. */
export function sendError(response: ServerResponse, { code, message }: S3Error, resource: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const fields = { Code: code, Message: message, Resource: resource };
  response.writeHead(statusOf[code], { "content-type": "application/xml" });
  response.end(response.req.method === "HEAD" ? undefined : xmlDocument(element("Error", fields)));
}
