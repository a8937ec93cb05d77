import openApiClient, { type Client as OpenApiClient } from "openapi-fetch";
import { type Fetch, send } from "./patience.ts";
import { ApiProblem, ApiUnreachable } from "./problem.ts";
import type { paths } from "./schema.d.ts";

export interface ClientOptions {
  /** Where the API is: `https://nova.example.com`. */
  url: string;
  apiKey: string;
  fetch?: Fetch;
  /** Instead of `JSON.parse`, which takes digits from large numbers. */
  parse?: (text: string) => unknown;
  /** Instead of `JSON.stringify`. */
  stringify?: (value: unknown) => string;
}

/** Every route as the OpenAPI document has it. */
export type Api = OpenApiClient<paths>;

interface Answered<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** A route that answers a list, page by page. */
export type ListPath = {
  [Path in keyof paths]: paths[Path] extends { get: Listing<unknown> } ? Path : never;
}[keyof paths];

interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

type Listing<Item> = { responses: { 200: { content: { "application/json": Page<Item> } } } };

export type ItemOf<Path extends ListPath> = paths[Path] extends { get: Listing<infer Item> } ? Item : never;

type Asked<Path extends ListPath> = paths[Path] extends { get: { parameters: infer Given } }
  ? Pick<Given, keyof Given & ("path" | "query")>
  : never;

/** What a route takes. */
export type Body<Path extends keyof paths, Method extends keyof paths[Path]> = paths[Path][Method] extends {
  requestBody?: { content: { "application/json": infer Value } };
}
  ? Value
  : never;

export interface Connection {
  api: Api;
  sleep(ms: number): Promise<void>;
  /** What was answered. Throws `ApiProblem`. */
  ask<T>(answer: Promise<Answered<T>>): Promise<T>;
  /** Every item of a list, each page read when it is wanted; from the query's `cursor` on. */
  list<Path extends ListPath>(path: Path, asked: Asked<Path>): AsyncGenerator<ItemOf<Path>>;
}

/** The API behind a URL. Requests that make something carry an `Idempotency-Key`: repeated, they make nothing twice. */
export function connect({ url, apiKey, fetch: given, parse = JSON.parse, stringify }: ClientOptions): Connection {
  const patience = { fetch: given ?? ((request: Request) => fetch(request)), sleep };
  const api = openApiClient<paths>({
    baseUrl: url,
    headers: { authorization: `Bearer ${apiKey}` },
    bodySerializer: stringify ?? JSON.stringify,
    async fetch(request) {
      if (request.method === "POST" && !request.headers.has("idempotency-key")) {
        request.headers.set("idempotency-key", crypto.randomUUID());
      }
      return readBy(parse, await send(request, patience), request.method);
    },
  });
  return {
    ...{ api, sleep, ask },
    async *list(path, { query = {}, ...asked }: { query?: { cursor?: string | null } }) {
      for (let { cursor } = query; cursor !== null; ) {
        const params = { ...asked, query: { ...query, cursor } };
        const page = await ask(api.GET(path, { params } as never) as Promise<Answered<Page<unknown>>>);
        yield* page.items as never[];
        cursor = page.next_cursor;
      }
    },
  };
}

async function ask<T>(answer: Promise<Answered<T>>): Promise<T> {
  const { data, error, response } = await answer;
  if (!response.ok) throw new ApiProblem(response.status, error);
  return data as T;
}

/** The same answer, whose JSON is read in this way. Only a deletion is answered with nothing. */
async function readBy(parse: (text: string) => unknown, answer: Response, method: string): Promise<Response> {
  if (!answer.ok) return answer;
  const text = await answer.text();
  const { status } = answer;
  const isEmpty = method === "DELETE" && text === "";
  const headers = { ...Object.fromEntries(answer.headers), "content-length": isEmpty ? "0" : "1" };
  const known = new Response(isEmpty ? null : text, { status, headers });
  return Object.assign(known, { json: async () => parsed(parse, text) });
}

function parsed(parse: (text: string) => unknown, text: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw new ApiUnreachable("what answered is no NOVA: it sent no JSON - check the URL", { cause });
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
