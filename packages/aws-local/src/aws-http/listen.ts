import { hash, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type Binding, httpServer, type Listening, openServer, readBody } from "@nova/serve-local";
import { Access, type Request as HttpRequest, type Refusal, refusals } from "../access/access.ts";
import type { AccessKey } from "../access/signature.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { AwsError } from "./aws-error.ts";
import { DirectCalls } from "./direct-calls.ts";
import { parseRequest, Request, targetOf } from "./request.ts";
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
  /**
   * Reads the operation and its input from a request over HTTP. If `read` is a text, the text is the name of the API:
   * the target header contains this name and then the operation.
   */
  read: string | ((request: HttpRequest, body: string) => [operation: string, input: Request]);
  /** Performs an operation. Throws `AwsError`. */
  perform(operation: string, input: Request): object | Promise<object>;
  /**
   * Functions for answers that contain stored JSON text: `textOf` writes such an answer as JSON text, and `objectOf`
   * turns such an answer into an object. Absent: all answers are plain JSON objects.
   */
  storedJson?: { textOf(answer: object): string; objectOf(answer: object): object };
}

/** Recognises write errors that a full or read-only disk causes. */
export interface WriteErrors {
  /** Returns the error to send to the client; undefined if `error` is no write error of a full or read-only disk. */
  refusal(error: unknown): AwsError | undefined;
}

interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

export interface AwsServer extends Listening {
  /** Code of this process that knows this key may call `perform`. */
  accessKeyId: string;
  /**
   * Performs an operation for code of this process, without HTTP, JSON text or a signature. `input` and the returned
   * output are objects of the SDK. Throws `AwsError`. DynamoDB changes `input`: it replaces numbers by their normal
   * form, and removes types with an empty value, as in `{ S: "x", N: undefined }`.
   */
  perform(operation: string, input: object): Promise<object>;
  /** Whether `perform` serves the operation with this input. Absent: it serves every input. */
  serves?(operation: string, input: object): boolean;
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
        (answer) => successResponse(service, answer),
        (error: unknown) => (message.errored ? undefined : errorResponse(service, error, speaksQuery(message))),
      );
      answering.then((answer) => {
        if (answer) response.writeHead(answer.status, answer.headers).end(answer.body);
        else response.destroy(); // The client has closed the connection.
      });
    },
    { keepAliveTimeout: 120_000 },
  );
  const { url, close } = await openServer(server, { breaksConnections: true, ...service });
  const calls = new DirectCalls(service.name);
  return {
    url,
    accessKeyId: service.accessKeyId,
    async close() {
      await Promise.all([close(), calls.close()]);
    },
    perform: (operation, input) => calls.run(() => performDirectly(service, operation, input)),
  };
}

async function performDirectly(service: AwsHttp, operation: string, input: object): Promise<object> {
  try {
    const { storedJson, perform } = service;
    if (storedJson) return storedJson.objectOf(await perform(operation, new Request(input as JsonObject)));
    const answer = await perform(operation, new Request(withoutDates(input as Json) as JsonObject));
    return withDates(answer as JsonObject) as object;
  } catch (error) {
    throw toAwsError(service, error);
  }
}

/** Replaces each `Date` of an SDK's input by the number of seconds, as JSON protocols send it. */
function withoutDates(value: Json | Date): Json {
  if (value instanceof Date) return value.getTime() / 1000;
  if (Array.isArray(value)) return value.map(withoutDates);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, own]) => [key, withoutDates(own)]));
}

/** Replaces the seconds in fields such as `startDate` and `timestamp` by the `Date` that the SDK returns. */
function withDates(value: Json): unknown {
  if (Array.isArray(value)) return value.map(withDates);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).filter(([, own]) => own !== undefined && own !== null);
  return Object.fromEntries(
    fields.map(([key, own]) => [key, isTime(key, own) ? new Date(own * 1000) : withDates(own)]),
  );
}

function isTime(field: string, value: Json): value is number {
  return typeof value === "number" && /(Date|timestamp)$/.test(field);
}

async function answerMessage(service: AwsHttp, access: Access, message: IncomingMessage): Promise<object> {
  const claim = access.claimOf(message);
  if (typeof claim === "string") throw unsignedError(service, claim);
  const body = await readBody(message, service.maxBytes ?? usualBytes);
  if (!body) throw new AwsError("RequestEntityTooLargeException", "Request is too large.", 413);
  const refused = claim(hash("sha256", body));
  if (refused) throw unsignedError(service, refused);
  const text = body.toString("utf8");
  const { read } = service;
  return service.perform(
    ...(typeof read === "string" ? ([targetOf(read, message), parseRequest(text)] as const) : read(message, text)),
  );
}

function unsignedError({ refusedStatus = 403 }: AwsHttp, refused: Refusal): AwsError {
  return new AwsError(...refusals[refused], refusedStatus);
}

function successResponse({ contentType, storedJson }: AwsHttp, answer: object): HttpResponse {
  return buildResponse(200, contentType, storedJson ? storedJson.textOf(answer) : JSON.stringify(answer));
}

/** Builds the response for an error. If `inXml` is true, the response is XML, for clients that cannot read JSON. */
function errorResponse(service: AwsHttp, error: unknown, inXml = false): HttpResponse {
  const refusal = toAwsError(service, error);
  const { contentType } = service;
  const { name, message, status } = refusal;
  if (inXml) return buildResponse(status, "text/xml", xmlOf(refusal));
  const text = JSON.stringify({ __type: name, message, Message: message });
  // REST services name the error in a header, JSON-RPC services in the body. Clients accept both.
  return buildResponse(status, contentType, text, { "x-amzn-errortype": name });
}

function toAwsError({ disk, name }: AwsHttp, error: unknown): AwsError {
  return error instanceof AwsError ? error : (disk?.refusal(error) ?? unexpectedError(name, error));
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

/** Returns whether a request uses AWS's Query protocol (as SES v1 does). Its clients read only XML. */
function speaksQuery({ headers }: IncomingMessage): boolean {
  return headers["content-type"]?.startsWith("application/x-www-form-urlencoded") ?? false;
}

function xmlOf({ name, message, status }: AwsError): string {
  const fields = { Error: { Type: status < 500 ? "Sender" : "Receiver", Code: name, Message: message } };
  return xmlDocument(element("ErrorResponse", { ...fields, RequestId: randomUUID() }));
}
