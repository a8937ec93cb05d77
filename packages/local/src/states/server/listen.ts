import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isSignedBy } from "../../access.ts";
import { isObject, type JsonObject } from "../asl/json.ts";
import { AwsError } from "./aws-error.ts";
import { operations } from "./operations.ts";
import { Request } from "./request.ts";
import type { Service } from "./service.ts";

/** Longer than any request the API allows: a definition or an input, escaped. */
const LONGEST_BODY_BYTES = 8 * 1024 * 1024;

export interface Listening {
  url: string;
  close(): Promise<void>;
}

/** Serves AWS JSON 1.0 on 127.0.0.1. */
export async function listen(service: Service, accessKeyId: string, port: number): Promise<Listening> {
  const server = createServer((message, response) => {
    answer(service, accessKeyId, message).then(
      (body) => send(response, 200, body),
      (error: unknown) => sendError(response, error),
    );
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => closeServer(server) };
}

async function answer(service: Service, accessKeyId: string, message: IncomingMessage): Promise<object> {
  const body = await readBody(message);
  if (!isSignedBy(message, accessKeyId)) {
    throw new AwsError("UnrecognizedClientException", "The security token included in the request is invalid.", 403);
  }
  const [api, name = ""] = String(message.headers["x-amz-target"] ?? "").split(".");
  const operation = api === "AWSStepFunctions" && Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (!operation) throw new AwsError("UnknownOperationException", `The local Step Functions does not serve "${name}"`);
  return operation(service, new Request(parseBody(body)));
}

async function readBody(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= LONGEST_BODY_BYTES) chunks.push(chunk);
  }
  if (bytes > LONGEST_BODY_BYTES) throw new AwsError("RequestEntityTooLargeException", "Request is too large.", 413);
  return Buffer.concat(chunks).toString("utf8");
}

function parseBody(text: string): JsonObject {
  try {
    const body: unknown = JSON.parse(text || "{}");
    if (isObject(body as JsonObject)) return body as JsonObject;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new AwsError("SerializationException", "The body of the request is not a JSON object");
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/x-amz-json-1.0",
    "content-length": Buffer.byteLength(text),
    "x-amzn-requestid": randomUUID(),
  });
  response.end(text);
}

function sendError(response: ServerResponse, error: unknown): void {
  if (error instanceof AwsError) {
    send(response, error.status, { __type: error.name, message: error.message });
    return;
  }
  process.emitWarning(error instanceof Error ? error : String(error));
  send(response, 500, { __type: "InternalFailure", message: `The local Step Functions failed: ${error}` });
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}
