import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { configName, listIssuerOrigins, renderPageConfig } from "@nova/console/serving";
import { readBody } from "@nova/serve-local";
import { sendPage } from "./send-page.ts";

/** The console, which browsers get beside the API. */
export interface Console {
  /** Returns the address of the page with a code that signs in once. */
  link(origin: string): string;
  /** Serves a request for the console. Returns false for a request to the API. */
  serve(request: IncomingMessage, response: ServerResponse): boolean;
}

export interface ConsoleOptions {
  /** Returns the folder of the built page; called when a browser first requests it. */
  folder(): Promise<string>;
  /** The key that the page gets in exchange for a code. */
  apiKey: string;
  /** The origin from which the page fetches blobs, and to which it uploads. */
  blobOrigin: string;
  /** Environment variables, which may name an issuer that signs people in. */
  env: NodeJS.ProcessEnv;
  onFailure?: ((error: unknown) => void) | undefined;
}

const root = "/console/";
/** A code has 43 letters. */
const maxBytes = 1000;

/**
 * Opens the console at `/console/`, beside the API. A printed link carries a code in its fragment, which no server
 * logs. The page exchanges the code for the key, once.
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

/** Whether `/` is requested by a browser: only browsers accept HTML. */
function wantsPage({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && headers.accept?.includes("text/html") === true;
}

function sentenceOf(error: unknown): string {
  return `the console cannot be shown: ${error instanceof Error ? error.message : error}`;
}
