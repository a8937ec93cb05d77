import type { IncomingMessage, ServerResponse } from "node:http";

const methods = "GET, PUT";

/** Allows pages of any origin, which send uploads and fetch blobs by presigned addresses. */
export function allowPages({ headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.origin === undefined) return;
  response.setHeader("access-control-allow-origin", "*");
  response.setHeader("access-control-allow-methods", methods);
  response.setHeader("vary", "Origin, Access-Control-Request-Headers, Access-Control-Request-Method");
  const asked = headers["access-control-request-headers"];
  if (asked !== undefined) response.setHeader("access-control-allow-headers", asked);
}

/** Whether a browser asks for permission before its request. It sends no signature yet. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === "OPTIONS" && "origin" in headers && "access-control-request-method" in headers;
}
