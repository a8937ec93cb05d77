import type { HttpAnswer, HttpEvent } from "./event.ts";

/** Origins of pages that may call the API; `*` allows all. */
export type Origins = readonly string[];

const allowed = {
  "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
  "access-control-allow-headers": "authorization, content-type, idempotency-key, if-none-match, x-api-key",
  "access-control-max-age": "600",
};

/** Headers that a page may read in addition to the body. */
const exposed = { "access-control-expose-headers": "etag, location, retry-after" };

/** Headers that let the calling page read the answer; empty for pages of other origins. */
export function corsHeaders(origins: Origins, { headers }: HttpEvent): Record<string, string> {
  const { origin } = headers;
  if (origin === undefined || origins.length === 0) return {};
  if (origins.includes("*")) return { "access-control-allow-origin": "*", ...exposed };
  if (!origins.includes(origin)) return { vary: "origin" };
  return { "access-control-allow-origin": origin, vary: "origin", ...exposed };
}

/** The answer to a preflight request of a browser; undefined for other requests. */
export function preflight(origins: Origins, event: HttpEvent): HttpAnswer | undefined {
  const isPreflight =
    event.requestContext.http.method === "OPTIONS" && "access-control-request-method" in event.headers;
  if (!isPreflight || origins.length === 0) return undefined;
  return { statusCode: 204, headers: { ...corsHeaders(origins, event), ...allowed } };
}
