import type { ServerResponse } from "node:http";
import { AwsError } from "../aws-http/aws-error.ts";
import { element, xmlDocument } from "../aws-http/xml.ts";

/** Those of the codes that are not the sender's plain mistake, which is 400. */
const statusOf: Record<string, number> = {
  AccessDenied: 403,
  BucketAlreadyOwnedByYou: 409,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidRange: 416,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NotImplemented: 501,
  PreconditionFailed: 412,
  RequestTimeTooSkewed: 403,
  SignatureDoesNotMatch: 403,
  SlowDown: 503,
};

/** What S3 refuses, by its own codes. */
export class S3Error extends AwsError {
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(code, message, statusOf[code], options);
  }
}

/** A HEAD has no body to explain itself in: there the status alone tells. */
export function sendError(response: ServerResponse, { name, message, status }: AwsError, resource: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const fields = { Code: name, Message: message, Resource: resource };
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(response.req.method === "HEAD" ? undefined : xmlDocument(element("Error", fields)));
}
