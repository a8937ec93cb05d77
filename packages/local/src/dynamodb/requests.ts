import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

/** One request as it arrived. */
export interface DynamoDbRequest {
  /** Such as `PutItem`. */
  operation: string;
  bodyBytes: number;
  /** The JSON body. */
  text: string;
}

/** By its events: an async iterator over the body costs as much as an operation does. */
export function readRequest(request: IncomingMessage): Promise<DynamoDbRequest> {
  const target = String(request.headers["x-amz-target"] ?? "");
  const operation = target.slice(target.indexOf(".") + 1);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", reject);
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      resolve({ operation, bodyBytes: body.length, text: body.toString() });
    });
  });
}

export function send(response: ServerResponse, status: number, text: string): void {
  const body = Buffer.from(text);
  response.writeHead(status, {
    "content-type": "application/x-amz-json-1.0",
    "content-length": body.length,
    "x-amzn-requestid": randomUUID(),
  });
  response.end(body);
}
