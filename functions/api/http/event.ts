import { decodeBodyText, decompressBody, Refused } from "@nova/service";
import { Unreadable } from "./errors.ts";

/** The event of API Gateway's HTTP API (payload format 2.0), with the fields that NOVA reads. */
export interface HttpEvent {
  version: "2.0";
  rawPath: string;
  rawQueryString: string;
  headers: Record<string, string | undefined>;
  requestContext: { http: { method: string; path: string; sourceIp?: string } };
  pathParameters?: Record<string, string | undefined>;
  body?: string;
  isBase64Encoded: boolean;
}

export interface HttpAnswer {
  statusCode: number;
  headers: Record<string, string>;
  body?: string;
  isBase64Encoded?: true;
}

export interface Received {
  method: string;
  path: string;
  params: Record<string, string | undefined>;
  /** The decoded query parameters. Reading them throws `Unreadable` if a parameter is repeated. */
  readonly query: Record<string, string>;
  headers: Record<string, string | undefined>;
  /** The raw body; empty if there is none. */
  bytes: Buffer;
  /** The body as text. Reading it throws `Unreadable` if the body is not UTF-8. */
  readonly text: string;
  /** IP address of the caller, as API Gateway reports it; empty if it reports none. */
  sourceIp: string;
}

export function receive(event: HttpEvent): Received {
  const { body = "", isBase64Encoded } = event;
  return {
    method: event.requestContext.http.method,
    path: event.rawPath,
    params: decoded(event.pathParameters ?? {}),
    get query() {
      return queryOf(event.rawQueryString);
    },
    headers: event.headers,
    bytes: Buffer.from(body, isBase64Encoded ? "base64" : "utf8"),
    get text() {
      const { "content-encoding": encoding, "content-type": type = "application/json" } = event.headers;
      if (!isBase64Encoded && encoding === undefined) return body;
      try {
        return decodeBodyText(decompressBody(this.bytes, encoding), type);
      } catch (error) {
        throw error instanceof Refused ? new Unreadable(400, error.message, { cause: error }) : error;
      }
    },
    sourceIp: event.requestContext.http.sourceIp ?? "",
  };
}

/**
 * Decodes the query. Throws `Unreadable` for a repeated parameter, because programs disagree about which of its values
 * counts.
 */
function queryOf(rawQueryString: string): Record<string, string> {
  const query = new URLSearchParams(rawQueryString);
  const names = new Set<string>();
  const repeated = [...query.keys()].find((name) => names.size === names.add(name).size);
  if (repeated === undefined) return Object.fromEntries(query);
  const name = JSON.stringify(repeated.slice(0, maxNameLength));
  throw new Unreadable(400, `the query has the parameter ${name} more than once - send it once`);
}

const maxNameLength = 80;

/** Decodes the path parameters. If a parameter is not UTF-8, it stays unchanged, and then matches no id. */
function decoded(params: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(params).map(([name, part]) => [name, part && decodedPart(part)]));
}

function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}

/** Returns the API key from `Authorization: Bearer` or `x-api-key`; undefined if neither contains one. */
export function credentialsIn(headers: Record<string, string | undefined>): string | undefined {
  const [, bearer] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "") ?? [];
  return bearer ?? headers["x-api-key"]?.trim();
}

const maxLength = 255;

/** Printable ASCII, which every client can send in a header. */
export const idempotencyKeyPattern = /^[!-~][ -~]{0,254}$/;

/** Returns the idempotency key; undefined if there is none. Throws `Unreadable` if the key is invalid. */
export function idempotencyKeyIn(headers: Record<string, string | undefined>): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (idempotencyKeyPattern.test(key)) return key;
  throw new Unreadable(
    400,
    `an Idempotency-Key has 1 to ${maxLength} printable ASCII characters - a UUID is a good one`,
  );
}
