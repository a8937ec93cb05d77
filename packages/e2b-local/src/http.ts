import type { IncomingMessage, ServerResponse } from "node:http";
import { readBody as readWithin } from "@nova/serve-local";

/**
 * An error of the E2B server itself, for example because there is no Python, or because the Python process that forks
 * sandboxes does not start.
 */
export class E2bServerError extends Error {
  override readonly name = "E2bServerError";
}

/** A response that refuses a request, with E2B's message and JSON fields. E2B's SDK reads `code`. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    message: string,
    more: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    super(message);
    this.status = status;
    this.body = { code: status, message, ...more };
    this.headers = headers;
  }
}

export function unknownSandbox(id: string): Refusal {
  return new Refusal(404, `Sandbox "${id}" doesn't exist or you don't have access to it`);
}

/** Creates the response of E2B's gateway for a sandbox that does not exist. Its body also has the field `sandboxId`. */
export function unreachableSandbox(id: string): Refusal {
  return new Refusal(502, "The sandbox was not found", { sandboxId: id });
}

const MAX_JSON_BYTES = 64 * 1024 * 1024;

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const body = await readWithin(request, MAX_JSON_BYTES);
  if (!body) throw new Refusal(413, "The request is too large - send large data as a file");
  return body;
}

export async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  return parseJson((await readBody(request)).toString());
}

/** Parses the body of a request; an empty body counts as {}. Throws a `Refusal` if it is not a JSON object. */
export function parseJson(body: string): Record<string, unknown> {
  if (body === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(body);
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

export function sendNothing(response: ServerResponse) {
  response.writeHead(204);
  response.end();
}

export function asRefusal(error: unknown): Refusal {
  return error instanceof Refusal ? error : new Refusal(500, error instanceof Error ? error.message : String(error));
}

export function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
