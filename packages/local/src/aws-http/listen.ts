import { hash, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Access, type Refusal, refusals } from "../access/access.ts";
import type { AccessKey } from "../access/signature.ts";
import { AwsError } from "./aws-error.ts";
import { httpServer, type Listening, openServer, readBody } from "./http-server.ts";
import { element, xmlDocument } from "./xml.ts";

/** Longer than any request that most services allow. */
const usualBytes = 2 * 1024 * 1024;

export interface AwsHttp extends AccessKey {
  /** Of the service, for whoever reads an error of the emulator's own. */
  name: string;
  contentType: "application/x-amz-json-1.0" | "application/x-amz-json-1.1" | "application/json";
  /** Absent: any that is free. */
  port?: number | undefined;
  /** Of the data folder that it writes to. */
  room: RoomForWrites | undefined;
  /** Of a body. */
  maxBytes?: number;
  answer(message: IncomingMessage, body: string): object | Promise<object>;
}

/** Knows which errors of a write are about room on the disk. */
export interface RoomForWrites {
  /** What is answered in the place of an error; undefined where it is about something else. */
  refusal(error: unknown): AwsError | undefined;
}

/** Serves one service of AWS that speaks JSON, on 127.0.0.1. */
export async function listen(service: AwsHttp): Promise<Listening> {
  const access = new Access(service);
  const server = httpServer((message, response) => {
    answerTo(service, access, message).then(
      (body) => send(response, service, 200, body),
      (error: unknown) => sendError(response, service, error, speaksQuery(message)),
    );
  });
  return openServer(server, { port: service.port, breaksConnections: true });
}

async function answerTo(
  { maxBytes = usualBytes, answer }: AwsHttp,
  access: Access,
  message: IncomingMessage,
): Promise<object> {
  const claim = access.claimOf(message);
  if (typeof claim === "string") throw refusal(claim);
  const body = await readBody(message, maxBytes);
  if (!body) throw new AwsError("RequestEntityTooLargeException", "Request is too large.", 413);
  const refused = claim(hash("sha256", body));
  if (refused) throw refusal(refused);
  return answer(message, body.toString("utf8"));
}

function refusal(refused: Refusal): AwsError {
  return new AwsError(...refusals[refused], 403);
}

function send(response: ServerResponse, { contentType }: AwsHttp, status: number, body: object, error = ""): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": contentType,
    "content-length": Buffer.byteLength(text),
    "x-amzn-requestid": randomUUID(),
    // REST services name the error in a header, JSON-RPC ones in the body; a client takes either.
    ...(error && { "x-amzn-errortype": error }),
  });
  response.end(text);
}

function sendError(response: ServerResponse, service: AwsHttp, error: unknown, inXml: boolean): void {
  const refusal = error instanceof AwsError ? error : (service.room?.refusal(error) ?? failure(service, error));
  const { name, message, status } = refusal;
  if (inXml) sendXml(response, refusal);
  else send(response, service, status, { __type: name, message, Message: message }, name);
}

function failure(service: AwsHttp, error: unknown): AwsError {
  process.emitWarning(error instanceof Error ? error : String(error));
  return new AwsError("InternalException", `The local ${service.name} failed: ${error}`, 500);
}

/** Whether a request is of AWS's Query protocol (SES v1 speaks it), whose clients read XML alone. */
function speaksQuery({ headers }: IncomingMessage): boolean {
  return headers["content-type"]?.startsWith("application/x-www-form-urlencoded") ?? false;
}

function sendXml(response: ServerResponse, { name, message, status }: AwsError): void {
  const fields = { Error: { Type: status < 500 ? "Sender" : "Receiver", Code: name, Message: message } };
  const text = xmlDocument(element("ErrorResponse", { ...fields, RequestId: randomUUID() }));
  response.writeHead(status, { "content-type": "text/xml", "content-length": Buffer.byteLength(text) });
  response.end(text);
}
