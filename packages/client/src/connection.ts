import openApiClient, { type Client as OpenApiClient } from "openapi-fetch";
import type { paths } from "./schema.d.ts";
import type { Schemas } from "./schemas.ts";

export interface ClientOptions {
  /** The base URL of the API: `https://nova.example.com`. */
  url: string;
  apiKey: string;
  fetch?: Transport["fetch"];
  /** Replaces `JSON.parse`, which rounds large numbers. */
  parse?: (text: string) => unknown;
  stringify?: (value: unknown) => string;
}

/** Every route of the OpenAPI document. */
export type Api = OpenApiClient<paths>;

interface ApiAnswer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** A route whose answer is one page of a list. */
export type ListPath = {
  [Path in keyof paths]: paths[Path] extends { get: Listing<unknown> } ? Path : never;
}[keyof paths];

interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

type Listing<Item> = { responses: { 200: { content: { "application/json": Page<Item> } } } };

export type ItemOf<Path extends ListPath> = paths[Path] extends { get: Listing<infer Item> } ? Item : never;

export type ListParameters<Path extends ListPath> = paths[Path] extends { get: { parameters: infer Parameters } }
  ? Pick<Parameters, keyof Parameters & ("path" | "query")>
  : never;

/** The JSON body of a route. */
export type Body<Path extends keyof paths, Method extends keyof paths[Path]> = paths[Path][Method] extends {
  requestBody?: { content: { "application/json": infer Value } };
}
  ? Value
  : never;

export interface Connection {
  api: Api;
  sleep(ms: number): Promise<void>;
  ask<T>(answer: Promise<ApiAnswer<T>>): Promise<T>;
  /**
   * Iterates over a list, starting at the query's `cursor`. It requests a page when the caller asks for the first item
   * of that page.
   */
  list<Path extends ListPath>(path: Path, asked: ListParameters<Path>): AsyncGenerator<ItemOf<Path>>;
}

/** Connects to an API. Every POST carries an `Idempotency-Key`, so a repeated request has no second effect. */
export function connect({ url, apiKey, fetch: customFetch, parse = JSON.parse, stringify }: ClientOptions): Connection {
  const transport = { fetch: customFetch ?? ((request: Request) => fetch(request)), sleep };
  const api = openApiClient<paths>({
    baseUrl: url,
    headers: { authorization: `Bearer ${apiKey}` },
    bodySerializer: stringify ?? JSON.stringify,
    async fetch(request) {
      if (request.method === "POST" && !request.headers.has("idempotency-key")) {
        request.headers.set("idempotency-key", crypto.randomUUID());
      }
      return replaceParser(parse, await send(request, transport), request.method);
    },
  });
  return {
    sleep,
    ask,
    api,
    async *list(path, { query = {}, ...asked }: { query?: { cursor?: string | null } }) {
      for (let { cursor } = query; cursor !== null; ) {
        const params = { ...asked, query: { ...query, cursor } };
        const page = await ask(api.GET(path, { params } as never) as Promise<ApiAnswer<Page<unknown>>>);
        yield* page.items as never[];
        cursor = page.next_cursor;
      }
    },
  };
}

async function ask<T>(answer: Promise<ApiAnswer<T>>): Promise<T> {
  const { data, error, response } = await answer;
  if (!response.ok) throw new ApiProblem(response.status, error);
  return data as T;
}

/** Returns the answer, whose JSON body is now parsed with `parse`. Only the answer to a DELETE may have no body. */
async function replaceParser(parse: (text: string) => unknown, answer: Response, method: string): Promise<Response> {
  if (!answer.ok) return answer;
  const text = await answer.text();
  const { status } = answer;
  const isEmpty = method === "DELETE" && text === "";
  const headers = { ...Object.fromEntries(answer.headers), "content-length": isEmpty ? "0" : "1" };
  const known = new Response(isEmpty ? null : text, { status, headers });
  return Object.assign(known, { json: async () => parseBody(parse, text) });
}

function parseBody(parse: (text: string) => unknown, text: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw new ApiUnreachable("what answered is no NOVA: it sent no JSON - check the URL", { cause });
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export interface Transport {
  fetch(request: Request): Promise<Response>;
  sleep(ms: number): Promise<void>;
}

const pausesMs = [200, 1_000, 3_000];
const longestPauseMs = 20_000;
const transientStatuses = new Set([429, 502, 503, 504]);

/**
 * Sends a request. After a failure, repeats reads, replacements, deletions and requests with an `Idempotency-Key`.
 * Throws `ApiUnreachable` if the last attempt gets no answer.
 */
export async function send(request: Request, { fetch, sleep }: Transport): Promise<Response> {
  const pauses = isRepeatable(request) ? pausesMs : [];
  for (const pauseMs of pauses) {
    const answer = await fetch(request.clone()).catch(() => undefined);
    if (answer && !transientStatuses.has(answer.status)) return answer;
    await answer?.body?.cancel();
    await sleep(retryAfterMs(answer) ?? pauseMs);
  }
  return fetch(request).catch((cause) => {
    throw unreachableError(request.url, cause);
  });
}

function isRepeatable({ method, headers }: Request): boolean {
  return (method !== "POST" && method !== "PATCH") || headers.has("idempotency-key");
}

function retryAfterMs(answer: Response | undefined): number | undefined {
  const seconds = Number(answer?.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, longestPauseMs) : undefined;
}

/** Returns an error that says why the server at a URL does not answer. */
export function unreachableError(url: string, cause: unknown): Error {
  if (cause instanceof Error && cause.name === "AbortError") return cause;
  const { code } = ((cause as Error).cause ?? {}) as { code?: string };
  const why = code ?? (cause as Error).message;
  return new ApiUnreachable(`${new URL(url).origin} cannot be reached (${why}) - check the URL, and that it is up`, {
    cause,
  });
}

/** Thrown if the API refuses a request (RFC 9457). The message is one sentence that says what to do. */
export class ApiProblem extends Error {
  override name = "ApiProblem";
  readonly status: number;
  readonly title: string;
  readonly findings: NonNullable<Schemas["Problem"]["findings"]>;
  readonly errors: NonNullable<Schemas["Problem"]["errors"]>;

  constructor(status: number, body: unknown) {
    const isProblem = body !== null && typeof body === "object" && "detail" in body && typeof body.detail === "string";
    const problem = isProblem ? (body as Schemas["Problem"]) : undefined;
    super(problem?.detail ?? `the server answered ${status} and did not say why - ask the operator of the server`);
    this.status = status;
    this.title = problem?.title ?? `Status ${status}`;
    this.findings = problem?.findings ?? [];
    this.errors = problem?.errors ?? [];
  }
}

/** Thrown if no server answers, or if the server that answers is not NOVA. */
export class ApiUnreachable extends Error {
  override name = "ApiUnreachable";
}
