import type { ServerResponse } from "node:http";

/** What a Lambda answers to an HTTP API (payload format 2.0). */
export interface HttpApiAnswer {
  statusCode: number;
  headers?: Record<string, string>;
  cookies?: string[];
  body?: string;
  isBase64Encoded?: boolean;
}

export function send(response: ServerResponse, answer: HttpApiAnswer): void {
  const { statusCode, headers = {}, cookies = [], body = "", isBase64Encoded = false } = answer;
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  const hasNoBody = statusCode === 204 || statusCode === 304;
  response.writeHead(statusCode, {
    ...headers,
    ...(cookies.length > 0 && { "set-cookie": cookies }),
    ...(!hasNoBody && { "content-length": bytes.length }),
  });
  response.end(hasNoBody ? undefined : bytes);
}

/** What API Gateway itself says, without asking a Lambda or when that has failed. */
export function gatewayAnswer(statusCode: number, message: string): HttpApiAnswer {
  return { statusCode, headers: { "content-type": "application/json" }, body: JSON.stringify({ message }) };
}
