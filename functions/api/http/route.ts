import { hash } from "node:crypto";
import * as service from "@nova/service";
import { z } from "zod";
import { parse } from "./errors.ts";
import { credentialsIn, idempotencyKeyIn, type Received } from "./event.ts";
import type { InnerApi } from "./inner.ts";
import { readBody } from "./read-body.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Answer {
  status: number;
  /** `renderJson` renders the body, so numbers in a `RawJson` keep their digits. */
  body?: unknown;
  /** The body as text, instead of `body`. */
  text?: string;
  headers?: Record<string, string>;
}

/** One possible answer of a route: its meaning and the schema of its body. */
export interface Possible {
  description: string;
  schema?: z.ZodType;
}

/** A parsed object without undefined members. */
type Sent<T> = { [Name in keyof T]: Exclude<T[Name], undefined> };

export interface Asked<Params, Query, Body> {
  by: service.Principal;
  params: Params;
  query: Sent<Query>;
  body: Sent<Body>;
  /** The text of the body; `{}` if the body is absent and the route allows that. */
  text: string;
  /**
   * Calls `make` for the first request with an `Idempotency-Key`, and stores its result, which must be small JSON
   * without secrets. A repeated request gets the stored result, or, if `again` is given, what `again` returns for that
   * result.
   */
  once<T>(make: (ulid: string) => Promise<T>, again?: (made: T) => Promise<T>): Promise<T>;
}

interface Described<Params, Query, Body> {
  summary: string;
  params?: z.ZodType<Params>;
  query?: z.ZodType<Query>;
  body?: z.ZodType<Body>;
  /** Whether an absent body means `{}`. A route on which a lost body would delete values must not set this field. */
  bodyMayBeAbsent?: true;
  /** Members of the body that keep the text of the request (`RawJson`) instead of being parsed. */
  exact?: readonly string[];
  /** Whether the token of a mailed link, in the header `nova-vote-link`, opens the route for the task `id`. */
  acceptsLinks?: true;
  /** Whether answers have an `ETag`. A caller who sends the current `ETag` in `If-None-Match` gets status 304. */
  isTagged?: true;
  answers: Record<number, Possible>;
}

export interface Definition<Params, Query, Body> extends Described<Params, Query, Body> {
  role: service.Role;
  /**
   * Returns a text that changes whenever the answer changes, and is cheaper to compute than the answer. If undefined,
   * the answer gets no `ETag`. The route calls it before `handle`.
   */
  tag?(ports: service.ServicePorts, asked: Asked<Params, Query, Body>): Promise<string | undefined>;
  /**
   * Returns the body of the answer, whose status is the lowest status in `answers`. May also return an `OtherAnswer`,
   * which has its own status.
   */
  handle(ports: service.ServicePorts, asked: Asked<Params, Query, Body>): Promise<unknown>;
}

export class OtherAnswer {
  readonly answer: Answer;

  constructor(answer: Answer) {
    this.answer = answer;
  }
}

/** One method of one path: its inputs, role and answers. The OpenAPI document uses the same descriptions. */
export interface Route extends Described<unknown, unknown, unknown> {
  method: Method;
  path: string;
  /** The lowest role that may use the route; null for routes without authentication. */
  role: service.Role | null;
  serve(ports: service.ServicePorts, received: Received, inner: InnerApi): Promise<Answer>;
}

export function route<Params, Query, Body>(
  address: Address,
  { handle, tag, ...definition }: Definition<Params, Query, Body>,
): Route {
  const described = tag ? { ...definition, ...tagged(definition) } : definition;
  const [[status, { schema }]] = Object.entries(described.answers) as [[string, Possible]];
  const named = namedBy(address);
  return {
    ...named,
    ...described,
    async serve(ports, received) {
      const by = await callerOf(ports, described, received);
      service.demandRole(by, described.role);
      const asked = read(described, named.path, received);
      const onceOptions = onceRequest(by, received);
      const request: Asked<Params, Query, Body> = {
        ...asked,
        by,
        once: (make, again) => service.once(ports, onceOptions, make, again),
      };
      const etag = etagOf(await tag?.(ports, request), received);
      if (isKnown(etag, received)) return { status: 304, headers: { etag } };
      const body = await handle(ports, request);
      if (body instanceof OtherAnswer) return body.answer;
      return { status: Number(status), body: schema && body, ...(etag !== undefined && { headers: { etag } }) };
    },
  };
}

/** The header with the token of a mailed link. A header appears in no log and in no `Referer`. */
export const linkHeader = "nova-vote-link";

/**
 * Returns the caller. A request with the token of a mailed link needs no key. If it has a key or a sign-in token, too,
 * both must prove the same person.
 */
async function callerOf(
  ports: service.ServicePorts,
  { acceptsLinks }: Pick<Route, "acceptsLinks">,
  { headers, params }: Received,
): Promise<service.Principal> {
  const credentials = credentialsIn(headers);
  const token = acceptsLinks && headers[linkHeader];
  if (token === undefined) return service.authenticate(ports, credentials);
  const signedIn = credentials === undefined ? undefined : await service.authenticate(ports, credentials);
  return service.ownerOfLink(ports, params.id ?? "", token, signedIn?.person);
}

function tagged({ answers }: Pick<Route, "answers">): Pick<Route, "isTagged" | "answers"> {
  const unchanged = { description: "nothing has changed since the `ETag` in If-None-Match" };
  return { isTagged: true, answers: { ...answers, 304: unchanged } };
}

/** Builds an `ETag` from the tag of the route and the query, because the answer also depends on the query. */
function etagOf(tag: string | undefined, { query }: Received): string | undefined {
  return tag === undefined ? undefined : `"${hash("sha256", JSON.stringify([tag, query]), "base64url")}"`;
}

/**
 * Returns whether `If-None-Match` contains the `ETag`; `*` never matches. The function ignores the prefix `W/`, which a
 * gateway adds to the tag when it compresses an answer.
 */
function isKnown(etag: string | undefined, { headers }: Received): etag is string {
  const known = headers["if-none-match"]?.split(",").map((one) => one.trim().replace(/^W\//, ""));
  return etag !== undefined && known?.includes(etag) === true;
}

export function openRoute(address: Address, definition: Omit<Route, "method" | "path" | "role">): Route {
  return { ...namedBy(address), ...definition, role: null };
}

type Address = `${Method} /${string}`;

function namedBy(address: Address): Pick<Route, "method" | "path"> {
  const [method, path] = address.split(" ") as [Method, string];
  return { method, path };
}

/**
 * The schema of a route without parameters. It refuses unknown parameters, because a misspelled filter would filter
 * nothing.
 */
const nothing = z.strictObject({});

/** Refuses every parameter of a route that takes none. Throws `Misfit`. */
export function refuseQuery({ query }: Received): void {
  parse(nothing, query, "the query", 400);
}

function read<Params, Query, Body>(definition: Described<Params, Query, Body>, path: string, received: Received) {
  const { params, query, body, bodyMayBeAbsent, exact = [] } = definition;
  const text = bodyMayBeAbsent && received.text.trim() === "" ? "{}" : received.text;
  return {
    params: (params && readAddress(params, path, received)) as Params,
    query: parse<unknown>(query ?? nothing, received.query, "the query", 400) as Sent<Query>,
    body: (body && parse(body, readBody({ ...received, text }, exact), "the body", 422)) as Sent<Body>,
    text,
  };
}

/** Parses the path parameters. Throws `NotFound` if a parameter does not have the form of an id. */
function readAddress<T>(schema: z.ZodType<T>, path: string, { params }: Received): T {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  const [name = "id"] = result.error.issues.map(({ path }) => String(path[0]));
  const [, kind = name] = new RegExp(`(\\w+)s/(?:\\{a\\}/diff/)?\\{${name}\\}`).exec(path) ?? [];
  throw new service.NotFound(
    `there is no ${kind} ${JSON.stringify(params[name])?.slice(0, 100)} - write it as it was answered`,
  );
}

function onceRequest({ id, client }: service.Principal, { method, path, query, headers, text }: Received) {
  const key = method === "POST" ? idempotencyKeyIn(headers) : undefined;
  if (key === undefined) return undefined;
  return { principal: id, client, key, asked: JSON.stringify([method, path, query, text]) };
}
