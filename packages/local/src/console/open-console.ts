import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { configName, listIssuerOrigins, renderPageConfig } from "@nova/console/serving";
import { readBody } from "@nova/serve-local";
import { sendPage } from "./send-page.ts";

/** What a browser gets besides the API. */
export interface Console {
  /** The page, with a code that signs in once. */
  link(origin: string): string;
  /** Answers whether the request is one of these pages' own; the others are the API's. */
  serve(request: IncomingMessage, response: ServerResponse): boolean;
}

export interface ConsoleOptions {
  /** Where the built page is; called when a browser first asks for it. */
  folder(): Promise<string>;
  /** What a code that was handed out is exchanged for. */
  apiKey: string;
  /** Where the page fetches blobs and sends uploads to. */
  blobOrigin: string;
  /** Variables, which may name an issuer that signs people in. */
  env: NodeJS.ProcessEnv;
  onFailure?: ((error: unknown) => void) | undefined;
}

const root = "/console/";
/** A code is 43 letters. */
const maxBytes = 1000;

/**
 * The web page of NOVA at `/console/`, beside the API. A link that is printed carries a code in its fragment, which no
 * server logs; the page exchanges it for the key, once.
 */
export function openConsole({ folder, apiKey, blobOrigin, env, onFailure }: ConsoleOptions): Console {
  const codes = new Set<string>();

  async function exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request, maxBytes);
    const given = body?.toString("utf8") ?? "";
    const code = codes.values().find((one) => isSame(one, given));
    const isGiven = code !== undefined && codes.delete(code);
    const answer = isGiven ? { api_key: apiKey } : { detail: "this link has been used - nova dev prints another one" };
    response.writeHead(isGiven ? 200 : 401, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(JSON.stringify(answer));
  }

  async function page(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const asked = { request, response, path: path.slice(root.length) };
    await sendPage({ ...asked, folder: await folder(), blobOrigin, issuers: listIssuerOrigins(env) });
  }

  async function config(response: ServerResponse): Promise<void> {
    response
      .writeHead(200, { "content-type": "application/json", "cache-control": "no-cache" })
      .end(renderPageConfig(env));
  }

  function answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    if (request.method === "POST" && path === `${root}session`) return exchange(request, response);
    if (request.method === "GET" && path === root + configName) return config(response);
    return page(request, response, path);
  }

  return {
    link(origin) {
      const code = randomBytes(32).toString("base64url");
      codes.add(code);
      return `${origin}${root}#code=${code}`;
    },
    serve(request, response) {
      const [path = ""] = (request.url ?? "").split("?");
      if (path === root.slice(0, -1) || (path === "/" && wantsPage(request))) {
        response.writeHead(302, { location: root, "cache-control": "no-store" }).end();
        return true;
      }
      if (!path.startsWith(root)) return false;
      answer(request, response, path).catch((error: unknown) => {
        onFailure?.(error);
        if (response.headersSent) response.destroy();
        else response.writeHead(500, { "content-type": "text/plain; charset=utf-8" }).end(sentenceOf(error));
      });
      return true;
    },
  };
}

function isSame(code: string, given: string): boolean {
  const [a, b] = [Buffer.from(code), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Of `/` alone: a browser says so, and no client of the API does. */
function wantsPage({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && headers.accept?.includes("text/html") === true;
}

function sentenceOf(error: unknown): string {
  return `the console cannot be shown: ${error instanceof Error ? error.message : error}`;
}
