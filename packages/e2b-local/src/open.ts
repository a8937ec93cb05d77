import type { IncomingMessage, ServerResponse } from "node:http";
import { httpServer, openServer } from "@nova/serve-local";
import { answerControlPlane } from "./control-plane.ts";
import { answerDataPlane } from "./data-plane.ts";
import { type ExecuteRequest, executeDirectly } from "./execute-directly.ts";
import { asRefusal, header, parseJson, Refusal, readJson, sendJson, sendNothing } from "./http.ts";
import { choosePython, type Python } from "./python.ts";
import { type Limits, type ResultsDisk, Sandboxes } from "./sandboxes.ts";
import { Zygotes } from "./zygotes.ts";

const YOUNG_MS = 500;
/**
 * The longest time in which a request may arrive: enough for a large file. Without a limit here, Node would also wait
 * for ever for the head of a request. A cell may run longer.
 */
const maxRequestMs = 60 * 60 * 1000;

export type E2bOptions = {
  /**
   * The X-API-KEY that requests must have. Code in a sandbox does not know the key, so it cannot create or end
   * sandboxes.
   */
  apiKey: string;
  /** The port on 127.0.0.1; absent or 0: any free port. */
  port?: number;
  /** Modules that code in a sandbox may import without installing them. The server imports them ahead of their use. */
  modules?: readonly string[];
  /** Folders of packages that `pip install --target` has installed. Every sandbox sees them, read-only. */
  sitePackages?: string[];
  /** The name of the environment variable in which users name their Python; absent: `E2B_LOCAL_PYTHON`. */
  pythonVariable?: string;
  /** A module that every sandbox has imported from its start, and the folder of that module. */
  preloaded?: { folder: string; module: string };
  /** A file that remembers the chosen interpreter, so that the next start does not have to search. */
  cacheFile?: string;
  /** Returns further folders of packages for the sandboxes of a template. Folders that do not exist are ignored. */
  templates?: (templateID: string, python: Python) => string[];
  limits?: Limits;
  /** The disk on which clients store the results of sandboxes. While it is full, no sandbox expires. */
  disk?: ResultsDisk;
  warn?: (sentence: string) => void;
  /** If true, the server starts no Python until the first sandbox is created. */
  waits?: boolean;
};

export type E2bServer = {
  apiUrl: string;
  sandboxUrl: string;
  /** Resolves when Python has started; with the option `waits`, immediately. Rejects with `E2bServerError`. */
  ready: () => Promise<void>;
  /** Whether sandboxes are isolated; known after `ready`. */
  isolated: boolean;
  /** Announces that sandboxes will import `modules`: the server imports them as soon as no request waits. */
  wantPackages: () => void;
  /**
   * Imports the modules and resolves when that is done. Sandboxes work earlier, too, but then have to import the
   * modules themselves.
   */
  warmed: () => Promise<void>;
  sandboxes: () => { id: string; metadata: Record<string, string>; startedAt: Date }[];
  /** Answers a request of this process to `/execute` without HTTP. */
  execute: (request: ExecuteRequest) => Promise<Response>;
  /** Answers a request of this process to the control plane, the API that creates and ends sandboxes, without HTTP. */
  callControlPlane: (call: ControlCall) => Promise<Response>;
  /** Kills a sandbox as if its machine died. */
  kill: (id: string) => Promise<void>;
  close: () => Promise<void>;
};

/**
 * Opens E2B for the unchanged SDK: the control plane and all sandboxes have one address. Requests for sandboxes wait
 * until Python has started.
 */
export async function openE2b(options: E2bOptions): Promise<E2bServer> {
  const { warn = () => undefined, modules = [], sitePackages = [], templates = () => [], preloaded } = options;
  const sites = preloaded ? [...sitePackages, preloaded.folder] : sitePackages;
  const compiled = preloaded ? [preloaded.folder] : [];
  const { cacheFile, pythonVariable } = options;
  const needs = { modules, sitePackages: sites, compiled, cacheFile };
  const choose = () => choosePython({ ...needs, ...(pythonVariable !== undefined && { variable: pythonVariable }) });
  const zygotes = new Zygotes(choose, { warn, modules, preloaded: preloaded ? [preloaded.module] : [] });
  const ready = options.waits ? Promise.resolve() : startFirst(zygotes);
  // Avoids an unhandled rejection. Callers of `ready` get the error all the same.
  ready.catch(() => undefined);
  const sandboxes = new Sandboxes(zygotes, options.limits ?? {}, templates, options.disk);
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    response.once("close", noteActivity(zygotes));
    answer(sandboxes, options.apiKey, request, response).catch((error) => answerError(response, error));
  };
  const server = httpServer(listener, { keepAliveTimeout: 650_000, requestTimeout: maxRequestMs });
  const { url, close } = await openServer(server, { port: options.port, breaksConnections: true });
  return {
    apiUrl: url,
    sandboxUrl: url,
    ready: () => ready,
    wantPackages: () => zygotes.wantPackages(),
    warmed: () => zygotes.warmed(),
    get isolated() {
      return zygotes.isolated;
    },
    sandboxes: () => sandboxes.all().map(({ id, metadata, startedAt }) => ({ id, metadata, startedAt })),
    execute: (request) => executeDirectly(sandboxes, request, noteActivity(zygotes)),
    callControlPlane: (call) => answerDirectly(sandboxes, options.apiKey, call).finally(noteActivity(zygotes)),
    kill: (id) => sandboxes.kill(id),
    close: async () => {
      const closed = close();
      await sandboxes.killAll();
      await zygotes.close();
      await closed;
    },
  };
}

async function startFirst(zygotes: Zygotes): Promise<void> {
  try {
    await zygotes.withSites();
  } catch (error) {
    await zygotes.close();
    throw error;
  }
}

/**
 * Counts a request as active until the returned function is called, but only for a short time, because a cell that runs
 * for minutes must not delay imports.
 */
function noteActivity(zygotes: Zygotes): () => void {
  zygotes.requestStarted();
  let isActive = true;
  const finish = () => {
    if (!isActive) return;
    isActive = false;
    clearTimeout(timer);
    zygotes.requestEnded();
  };
  const timer = setTimeout(finish, YOUNG_MS).unref();
  return finish;
}

async function answer(sandboxes: Sandboxes, apiKey: string, request: IncomingMessage, response: ServerResponse) {
  const url = urlOf(request.url ?? "/");
  if (header(request, "e2b-sandbox-id")) return answerDataPlane({ sandboxes, request, response, url });
  checkKey(header(request, "x-api-key"), apiKey);
  const asked = { method: request.method, url, readJson: () => readJson(request) };
  const { status, json } = await answerControlPlane(sandboxes, asked);
  if (status === 204) sendNothing(response);
  else sendJson(response, status, json);
}

function urlOf(path: string): URL {
  return new URL(path, "http://localhost");
}

function checkKey(key: string | null | undefined, apiKey: string): void {
  if (key === apiKey) return;
  throw new Refusal(401, "authorization header is missing or the API key is not the one of this server");
}

/** A request of this process to the control plane. */
export interface ControlCall {
  method: string;
  /** Path and query. */
  url: string;
  /** The value of the header `X-API-KEY`. */
  apiKey: string | null;
  /** The text of the body; empty if there is none. */
  json: string;
  signal: AbortSignal;
}

/**
 * Answers a request of this process to the control plane without HTTP. As over HTTP, the request fails when its signal
 * aborts, and the control plane still completes it.
 */
async function answerDirectly(sandboxes: Sandboxes, apiKey: string, call: ControlCall): Promise<Response> {
  const { signal } = call;
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([responseTo(sandboxes, apiKey, call), aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function responseTo(sandboxes: Sandboxes, apiKey: string, call: ControlCall): Promise<Response> {
  try {
    checkKey(call.apiKey, apiKey);
    const asked = { method: call.method, url: urlOf(call.url), readJson: () => parseJson(call.json) };
    const { status, json } = await answerControlPlane(sandboxes, asked);
    return status === 204 ? new Response(null, { status }) : Response.json(json, { status });
  } catch (error) {
    const { status, body, headers } = asRefusal(error);
    return Response.json(body, { status, headers });
  }
}

/** Sends an error. If a part of the response has been sent already, it breaks the connection instead. */
function answerError(response: ServerResponse, error: unknown) {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, body, headers } = asRefusal(error);
  sendJson(response, status, body, headers);
}
