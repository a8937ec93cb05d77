import { InputsRefused, renderJson } from "@nova/engine";
import { Refused, TooMany } from "@nova/service";
import { MethodNotAllowed, Misfit, Unreadable } from "./errors.ts";
import type { HttpAnswer } from "./event.ts";
import type { Answer } from "./route.ts";

/** The HTTP status of each error that a package throws, by name. NOVA answers with status 500 to all other errors. */
const statuses: Record<string, number> = {
  Unauthenticated: 401,
  Forbidden: 403,
  ApproverRefused: 403,
  NotFound: 404,
  ExecutionNotFound: 404,
  MethodNotAllowed: 405,
  Conflict: 409,
  AnswerRefused: 409,
  ContentsErased: 409,
  // The next three errors mean that a stored item is damaged, or has a form that this version of NOVA cannot read.
  DamagedLink: 409,
  UnknownFormat: 409,
  UnreadableRecord: 409,
  WaitOver: 410,
  AnswerMisfit: 422,
  Refused: 422,
  InputsRefused: 422,
  TooMany: 429,
  IssuerUnreachable: 503,
  StoreUnavailable: 503,
};

const titles: Record<number, string> = {
  400: "Bad request",
  401: "Not authenticated",
  403: "Not allowed",
  404: "Not found",
  405: "Method not allowed",
  409: "Conflict",
  410: "Gone",
  413: "Too large",
  415: "Unsupported media type",
  422: "Refused",
  429: "Too many requests",
  500: "Internal error",
  503: "Unavailable",
};

export function statusOf(error: unknown): number {
  if (error instanceof Unreadable || error instanceof Misfit) return error.status;
  return (error instanceof Error ? statuses[error.name] : undefined) ?? 500;
}

/**
 * Returns the answer for an error: a problem as in RFC 9457. The text of an internal error appears only in the log,
 * under the request's id.
 */
export function problemOf(error: unknown, requestId: string): Answer {
  const status = statusOf(error);
  const detail =
    status === 500
      ? `something failed in NOVA itself - its log says what, under request ${requestId}`
      : (error as Error).message;
  return {
    status,
    headers: { "content-type": "application/problem+json", ...headersOf(error, status) },
    body: { type: "about:blank", title: titles[status], status, detail, ...extensionsOf(error) },
  };
}

function extensionsOf(error: unknown): object {
  if (error instanceof InputsRefused) return { findings: error.findings };
  if (error instanceof Refused && error.findings.length > 0) return { findings: error.findings };
  return error instanceof Misfit ? { errors: error.errors } : {};
}

function headersOf(error: unknown, status: number): Record<string, string> {
  if (error instanceof MethodNotAllowed) return { allow: error.allowed.join(", ") };
  if (error instanceof TooMany) return { "retry-after": String(error.retryAfterSeconds) };
  if (status === 401) return { "www-authenticate": 'Bearer realm="nova"' };
  return status === 503 ? { "retry-after": "1" } : {};
}

/** Headers of every answer. They keep answers out of caches, and stop browsers from guessing media types. */
const always = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/**
 * The largest number of characters of a body that is sent as text. Longer bodies are sent as base64. AWS Lambda returns
 * at most 6 MB of JSON; escaped quotes may double a text, but base64 adds only a third.
 */
const maxCharactersAsText = 1024 * 1024;

export function render({ status, body, text: given, headers }: Answer): HttpAnswer {
  if (body === undefined && given === undefined) return { statusCode: status, headers: { ...always, ...headers } };
  const text = given ?? renderJson(body);
  const answer = { statusCode: status, headers: { "content-type": "application/json", ...always, ...headers } };
  if (text.length <= maxCharactersAsText) return { ...answer, body: text };
  return { ...answer, body: Buffer.from(text).toString("base64"), isBase64Encoded: true };
}
