import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";

/** One request as it arrived. */
export interface DynamoDbRequest {
  /** Such as `PutItem`. */
  operation: string;
  bodyBytes: number;
  /** The JSON body. */
  text: string;
}

/** What a request says before it is looked into; header names in lower case. */
export interface RawRequest {
  headers: { authorization?: string | undefined; "x-amz-target"?: string | string[] | undefined };
  body: Buffer;
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

export function requestOf({ headers, body }: RawRequest): DynamoDbRequest {
  const target = String(headers["x-amz-target"] ?? "");
  return { operation: target.slice(target.indexOf(".") + 1), bodyBytes: body.length, text: body.toString() };
}

export function answerOf(status: number, text: string): RawAnswer {
  const body = Buffer.from(text);
  const headers = {
    "content-type": "application/x-amz-json-1.0",
    "content-length": String(body.length),
    "x-amzn-requestid": randomUUID(),
  };
  return { status, headers, body };
}

export function send(response: ServerResponse, { status, headers, body }: RawAnswer): void {
  response.writeHead(status, headers);
  response.end(body);
}
