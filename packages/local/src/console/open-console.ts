import { randomBytes, timingSafeEqual } from "node:crypto";
import { open } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import {
  buildPageHeaders,
  configName,
  getCacheControl,
  listIssuerOrigins,
  pageTypes,
  renderPageConfig,
} from "@nova/console/serving";
import { readBody } from "@nova/serve-local";

/** The web console, at the same host and port as the API. */
export type Console = ReturnType<typeof openConsole>;

interface ConsoleOptions {
  /** Returns the folder of the built page; called when a browser first requests it. */
  folder(): Promise<string>;
  apiKey: string;
  /** The origin from which the page fetches blobs, and to which it uploads. */
  blobOrigin: string;
  /** The environment variables. They may name an issuer that signs people in. */
  env: NodeJS.ProcessEnv;
  onFailure?: ((error: unknown) => void) | undefined;
}

const root = "/console/";
/** The longest request for a key. Its content is a code of 43 letters. */
const maxBytes = 1000;

/**
 * Opens the console at `/console/`, beside the API. A printed link carries a code in its fragment, which no server
 * logs. The page can exchange this code for the API key once.
 */
export function openConsole({ folder, apiKey, blobOrigin, env, onFailure }: ConsoleOptions) {
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

  async function answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    if (request.method === "POST" && path === `${root}session`) return exchange(request, response);
    if (request.method !== "GET" || path !== root + configName) return page(request, response, path);
    const headers = { "content-type": "application/json", "cache-control": "no-cache" };
    response.writeHead(200, headers).end(renderPageConfig(env));
  }

  return {
    link(origin: string): string {
      const code = randomBytes(32).toString("base64url");
      codes.add(code);
      return `${origin}${root}#code=${code}`;
    },
    /** Returns the address below which the page shows tasks. */
    tasksAt: (origin: string) => `${origin}${root}tasks`,
    /** Answers a request for the console. Returns false if the request is for the API. */
    serve(request: IncomingMessage, response: ServerResponse): boolean {
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

/** Returns whether a browser requests the page at `/`. Only browsers accept HTML. */
function wantsPage({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && headers.accept?.includes("text/html") === true;
}

function sentenceOf(error: unknown): string {
  return `the console cannot be shown: ${error instanceof Error ? error.message : error}`;
}

interface PageRequest {
  request: IncomingMessage;
  response: ServerResponse;
  folder: string;
  /** The path below `/console/`. */
  path: string;
  blobOrigin: string;
  /** The issuers that sign people in, in addition to keys. */
  issuers: readonly string[];
}

/** Names of files in a build. Files with other names are never read. */
const asset = /^(?:(?:assets\/)?[\w-][\w.-]*\.(?:js|css|svg|woff2)|verify\.html)$/;

/** Sends a file of the build, or the page itself for any other path, because such a path is a route of the page. */
async function sendPage({ request, response, folder, path, blobOrigin, issuers }: PageRequest): Promise<void> {
  const isAsset = asset.test(path);
  if (request.method !== "GET" && request.method !== "HEAD") return end(response, 405, "only GET is possible here");
  await using file = await open(join(folder, isAsset ? path : "index.html")).catch(() => undefined);
  if (!file) return end(response, 404, "there is no such file");
  const name = isAsset ? path : "index.html";
  const { size } = await file.stat();
  response.writeHead(200, {
    ...buildPageHeaders(blobOrigin, issuers),
    "content-type": pageTypes[extname(name)] as string,
    "content-length": size,
    "cache-control": getCacheControl(name),
  });
  if (request.method === "HEAD") return void response.end();
  await pipeline(file.createReadStream({ autoClose: false }), response);
}

function end(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" });
  response.end(sentence);
}
