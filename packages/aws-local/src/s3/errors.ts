import type { ServerResponse } from "node:http";
import { AwsError } from "../aws-http/aws-error.ts";
import { element, xmlDocument } from "../aws-http/xml.ts";

/** The HTTP status of each error code. A code that is missing here has the status 400. */
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

/** An error with one of S3's codes, and with the status of that code. */
export class S3Error extends AwsError {
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(code, message, statusOf[code], options);
  }
}

/** Sends an error. The response to a HEAD request has no body, so only its status says what is wrong. */
export function sendError(response: ServerResponse, { name, message, status }: AwsError, resource: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const fields = { Code: name, Message: message, Resource: resource };
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(response.req.method === "HEAD" ? undefined : xmlDocument(element("Error", fields)));
}
