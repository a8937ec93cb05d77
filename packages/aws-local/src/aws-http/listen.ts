import { hash, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type Binding, httpServer, type Listening, openServer, readBody } from "@nova/serve-local";
import { Access, type Refusal, type Request, refusals } from "../access/access.ts";
import type { AccessKey } from "../access/signature.ts";
import { AwsError } from "./aws-error.ts";
import { element, xmlDocument } from "./xml.ts";

/** The largest body of a service that sets no `maxBytes`. Most services of AWS allow less. */
const usualBytes = 2 * 1024 * 1024;

export interface AwsHttp extends AccessKey, Binding {
  /** Name of the service in the emulator's own error messages. */
  name: string;
  contentType: "application/x-amz-json-1.0" | "application/x-amz-json-1.1" | "application/json";
  /** The disk of the data folder. */
  disk: WriteErrors | undefined;
  /** The largest body in bytes; absent: `usualBytes`. */
  maxBytes?: number;
  /** The HTTP status for requests that are not signed with the key; absent: 403. */
  refusedStatus?: number;
  /** Performs the operation. Returns the response's value, or its JSON text. */
  answer(request: Request, body: string): object | string | Promise<object>;
}

/** Recognises write errors that a full or read-only disk causes. */
export interface WriteErrors {
  /** The error to send to the client; undefined if `error` is no write error of a full or read-only disk. */
  refusal(error: unknown): AwsError | undefined;
}

interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

export interface AwsServer extends Listening {
  /** Performs a request of this process without HTTP. It does not check the signature. */
  answer(request: Request, body: string): Promise<HttpResponse>;
}

/**
 * Serves one AWS service that speaks JSON on 127.0.0.1. Closing breaks open connections, unless `breaksConnections` is
 * false.
 */
export async function listen(service: AwsHttp): Promise<AwsServer> {
  const access = new Access(service);
  const server = httpServer(
    (message, response) => {
      const answering = answerMessage(service, access, message).then(
        (body) => successResponse(service, body),
        (error: unknown) => (message.errored ? undefined : errorResponse(service, error, speaksQuery(message))),
      );
      answering.then((answer) => {
        if (answer) response.writeHead(answer.status, answer.headers).end(answer.body);
        else response.destroy(); // the client is gone
      });
    },
    { keepAliveTimeout: 120_000 },
  );
  const { url, close } = await openServer(server, { breaksConnections: true, ...service });
  let isClosed = false;
  return {
    url,
    async close() {
      await close();
      isClosed = true;
    },
    async answer(request, body) {
      try {
        if (!access.knows(request)) throw unsignedError(service, "stranger");
        return successResponse(service, await service.answer(request, body));
      } catch (error) {
        return errorResponse(service, isClosed ? closedError(service) : error);
      }
    },
  };
}

async function answerMessage(service: AwsHttp, access: Access, message: IncomingMessage): Promise<object | string> {
  const claim = access.claimOf(message);
  if (typeof claim === "string") throw unsignedError(service, claim);
  const body = await readBody(message, service.maxBytes ?? usualBytes);
  if (!body) throw new AwsError("RequestEntityTooLargeException", "Request is too large.", 413);
  const refused = claim(hash("sha256", body));
  if (refused) throw unsignedError(service, refused);
  return service.answer(message, body.toString("utf8"));
}

function unsignedError({ refusedStatus = 403 }: AwsHttp, refused: Refusal): AwsError {
  return new AwsError(...refusals[refused], refusedStatus);
}

/** The error for requests after the close. Without it clients would see errors of the closed database. */
function closedError({ name }: AwsHttp): AwsError {
  return new AwsError("ServiceUnavailable", `The local ${name} is closed.`, 503);
}

function successResponse({ contentType }: AwsHttp, answer: object | string): HttpResponse {
  return buildResponse(200, contentType, typeof answer === "string" ? answer : JSON.stringify(answer));
}

/** `inXml`: the response is XML, for clients that read nothing else. */
function errorResponse({ disk, name: service, contentType }: AwsHttp, error: unknown, inXml = false): HttpResponse {
  const refusal = error instanceof AwsError ? error : (disk?.refusal(error) ?? unexpectedError(service, error));
  const { name, message, status } = refusal;
  if (inXml) return buildResponse(status, "text/xml", xmlOf(refusal));
  const text = JSON.stringify({ __type: name, message, Message: message });
  // REST services name the error in a header, JSON-RPC services in the body. Clients accept both.
  return buildResponse(status, contentType, text, { "x-amzn-errortype": name });
}

function buildResponse(status: number, contentType: string, text: string, more?: Record<string, string>): HttpResponse {
  const body = Buffer.from(text);
  const headers = { "content-type": contentType, "content-length": String(body.length), ...more };
  return { status, headers: { ...headers, "x-amzn-requestid": randomUUID() }, body };
}

function unexpectedError(service: string, error: unknown): AwsError {
  process.emitWarning(error instanceof Error ? error : String(error));
  return new AwsError("InternalException", `The local ${service} failed: ${error}`, 500);
}

/** Whether a request uses AWS's Query protocol (as SES v1 does). Its clients read only XML. */
function speaksQuery({ headers }: IncomingMessage): boolean {
  return headers["content-type"]?.startsWith("application/x-www-form-urlencoded") ?? false;
}

function xmlOf({ name, message, status }: AwsError): string {
  const fields = { Error: { Type: status < 500 ? "Sender" : "Receiver", Code: name, Message: message } };
  return xmlDocument(element("ErrorResponse", { ...fields, RequestId: randomUUID() }));
}
