import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";

/** One request as it arrived. */
export interface DynamoDbRequest {
  /** Such as `PutItem`. */
  operation: string;
  bodyBytes: number;
  /** The JSON body. */
  text: string;
}

export async function readRequest(request: IncomingMessage): Promise<DynamoDbRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const target = String(request.headers["x-amz-target"] ?? "");
  return { operation: target.slice(target.indexOf(".") + 1), bodyBytes: body.length, text: body.toString() };
}

/** Hands a request whose body was read already to a listener that wants to read it itself. */
export function replay(request: IncomingMessage, text: string): IncomingMessage {
  const { headers, method, url } = request;
  const copy = Object.assign(new EventEmitter(), { headers, method, url });
  process.nextTick(() => {
    if (text) copy.emit("data", Buffer.from(text));
    copy.emit("end");
  });
  return copy as unknown as IncomingMessage;
}

/** A response that takes the place of a real one; what is written to it is lost, `instead` runs when it ends. */
export function answerLost(instead: () => void): ServerResponse {
  return { setHeader: () => undefined, end: instead } as unknown as ServerResponse;
}

/** An error in the shape that DynamoDB gives it. */
export function refuse(response: ServerResponse, status: number, type: string, message: string): void {
  response.writeHead(status, { "content-type": "application/x-amz-json-1.0" });
  response.end(JSON.stringify({ __type: type, message }));
}
