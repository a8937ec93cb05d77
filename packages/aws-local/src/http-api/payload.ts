import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";

/** The event that an HTTP API passes to its Lambda (payload format 2.0), without fields for authorizers. */
export type HttpApiEvent = ReturnType<typeof eventOf>;

/** Types whose bodies API Gateway passes on as text. Other bodies, and bytes that are not UTF-8, become base64. */
const textual = /^(text\/|application\/(json|javascript|xml|x-www-form-urlencoded|[^;]*\+(json|xml)))/i;

/** Builds the event for a request. Joins repeated headers and query parameters with commas, as API Gateway does. */
export function eventOf(request: IncomingMessage, body: Buffer, requestId: string, nowMs: number) {
  const { method = "GET", url = "/", httpVersion } = request;
  const [rawPath = "/", rawQueryString = ""] = url.split(/\?(.*)/s);
  const headers = headersOf(request);
  const query = queryOf(rawQueryString);
  const isText = textual.test(headers["content-type"] ?? "") && isUtf8(body);
  return {
    version: "2.0" as const,
    routeKey: "$default",
    rawPath,
    rawQueryString,
    headers,
    ...(query && { queryStringParameters: query }),
    requestContext: {
      http: {
        method,
        path: rawPath,
        protocol: `HTTP/${httpVersion}`,
        sourceIp: request.socket.remoteAddress ?? "",
        userAgent: headers["user-agent"] ?? "",
      },
      requestId,
      stage: "$default",
      time: new Date(nowMs).toISOString(),
      timeEpoch: nowMs,
    },
    ...(body.length > 0 && { body: isText ? body.toString() : body.toString("base64") }),
    isBase64Encoded: body.length > 0 && !isText,
  };
}

function headersOf({ headersDistinct }: IncomingMessage): Record<string, string> {
  const entries = Object.entries(headersDistinct).map(([name, values]) => [name, (values ?? []).join(",")]);
  return Object.fromEntries(entries) as Record<string, string>;
}

function queryOf(rawQueryString: string): Record<string, string> | undefined {
  if (rawQueryString === "") return undefined;
  const parameters = new URLSearchParams(rawQueryString);
  return Object.fromEntries(Array.from(parameters.keys(), (name) => [name, parameters.getAll(name).join(",")]));
}

/** The response of a Lambda to an HTTP API (payload format 2.0). */
export interface HttpApiAnswer {
  statusCode: number;
  headers?: Record<string, string>;
  body?: string;
  isBase64Encoded?: boolean;
}

export function send(response: ServerResponse, answer: HttpApiAnswer): void {
  const { statusCode, headers = {}, body = "", isBase64Encoded = false } = answer;
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  const hasNoBody = statusCode === 204 || statusCode === 304;
  response.writeHead(statusCode, {
    ...headers,
    ...(!hasNoBody && { "content-length": bytes.length }),
  });
  response.end(hasNoBody ? undefined : bytes);
}

/** Builds a response that API Gateway itself gives, because no Lambda was invoked or because the Lambda failed. */
export function gatewayAnswer(statusCode: number, message: string): HttpApiAnswer {
  return { statusCode, headers: { "content-type": "application/json" }, body: JSON.stringify({ message }) };
}
