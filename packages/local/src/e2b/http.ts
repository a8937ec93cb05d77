import type { IncomingMessage, ServerResponse } from "node:http";
import { Refusal } from "./errors.ts";

const MAX_JSON_BYTES = 64 * 1024 * 1024;

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_JSON_BYTES) throw new Refusal(413, "The request is too large - send large data as a file");
    parts.push(part);
  }
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}

/** An absent body counts as {}; anything but an object is the caller's mistake. */
export async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const body = await readBody(request);
  if (body.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch (cause) {
    throw new Refusal(400, `Error when parsing request: ${(cause as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Refusal(400, "Error when parsing request: the body must be a JSON object");
  }
  return value as Record<string, unknown>;
}

export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
) {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { "content-type": "application/json", "content-length": body.length, ...headers });
  response.end(body);
}

export function sendText(response: ServerResponse, status: number, text: string) {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

export function sendNothing(response: ServerResponse) {
  response.writeHead(204);
  response.end();
}

export function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
