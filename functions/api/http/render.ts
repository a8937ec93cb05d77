import { renderJson } from "@nova/engine";
import type { HttpAnswer } from "./event.ts";
import type { Answer } from "./route.ts";

/** Nothing of an API's answers belongs into a cache, and browsers guess no types. */
const always = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

export function render({ status, body, headers }: Answer): HttpAnswer {
  if (body === undefined) return { statusCode: status, headers: { ...always, ...headers } };
  return {
    statusCode: status,
    headers: { "content-type": "application/json", ...always, ...headers },
    body: renderJson(body),
  };
}
