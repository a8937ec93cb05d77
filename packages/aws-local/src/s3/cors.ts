import type { IncomingMessage, ServerResponse } from "node:http";

const methods = "GET, PUT";

/** As the deployed bucket's CORS rule, for pages of any origin: they send uploads and fetch blobs by signed addresses. */
export function allowPages({ headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.origin === undefined) return;
  response.setHeader("access-control-allow-origin", "*");
  response.setHeader("access-control-allow-methods", methods);
  response.setHeader("vary", "Origin, Access-Control-Request-Headers, Access-Control-Request-Method");
  const asked = headers["access-control-request-headers"];
  if (asked !== undefined) response.setHeader("access-control-allow-headers", asked);
}

/** A browser asks before it sends what no form could; it has no signature yet. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === "OPTIONS" && "origin" in headers && "access-control-request-method" in headers;
}
