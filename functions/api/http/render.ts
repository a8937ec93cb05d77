import { renderJson } from "@nova/engine";
import type { HttpAnswer } from "./event.ts";
import type { Answer } from "./route.ts";

/** Nothing of an API's answers belongs into a cache, and browsers guess no types. */
const always = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** A Lambda answers 6 MB of JSON, in which a body's quotes are escaped; base64 grows by a third, whatever is in it. */
const mostCharactersAsText = 1024 * 1024;

export function render({ status, body, headers }: Answer): HttpAnswer {
  if (body === undefined) return { statusCode: status, headers: { ...always, ...headers } };
  const text = renderJson(body);
  const answer = { statusCode: status, headers: { "content-type": "application/json", ...always, ...headers } };
  if (text.length <= mostCharactersAsText) return { ...answer, body: text };
  return { ...answer, body: Buffer.from(text).toString("base64"), isBase64Encoded: true };
}
