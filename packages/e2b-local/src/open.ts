import type { IncomingMessage, ServerResponse } from "node:http";
import { httpServer, openServer } from "@nova/serve-local";
import { answerControlPlane } from "./control-plane.ts";
import { answerDataPlane } from "./data-plane.ts";
import { header, Refusal, sendJson } from "./http.ts";
import { choosePython, type Python } from "./python.ts";
import { type Limits, type ResultsDisk, Sandboxes } from "./sandboxes.ts";
import { Zygotes } from "./zygotes.ts";

const YOUNG_MS = 500;
/** The time for a request to arrive; a cell may run longer. Without a limit, Node would not limit the head either. */
const maxRequestMs = 60 * 60 * 1000;

export type E2bOptions = {
  /** The required X-API-KEY. It also keeps code in a sandbox from using the control plane. */
  apiKey: string;
  /** The port on 127.0.0.1; absent or 0: any free port. */
  port?: number;
  /** Modules that code may import without installing anything. They are imported ahead. */
  modules?: readonly string[];
  /** Folders that `pip install --target` filled. Every sandbox sees them, read-only. */
  sitePackages?: string[];
  /** The environment variable in which a user names a Python; absent: `E2B_LOCAL_PYTHON`. */
  pythonVariable?: string;
  /** A module that every sandbox's Python has already imported, and its folder. */
  preloaded?: { folder: string; module: string };
  /** Keeps the chosen interpreter, so that the next start does not have to search. */
  cacheFile?: string;
  /** Returns further package folders by template; missing folders are left out. */
  templates?: (templateID: string, python: Python) => string[];
  limits?: Limits;
  /** The disk on which clients store results. While it is full, sandboxes do not expire. */
  disk?: ResultsDisk;
  warn?: (sentence: string) => void;
  /** Starts no Python before the first sandbox is created. */
  waits?: boolean;
};

export type E2bServer = {
  apiUrl: string;
  sandboxUrl: string;
  /** Resolves when Python has started; immediately with `waits`. Rejects with `E2bServerError`. */
  ready: () => Promise<void>;
  /** Whether sandboxes are isolated; known after `ready`. */
  isolated: boolean;
  /** Announces that sandboxes will import `modules`: the server imports them ahead in the next pause. */
  wantPackages: () => void;
  /** Resolves when the modules are imported. Sandboxes work before, but import them themselves. */
  warmed: () => Promise<void>;
  sandboxes: () => { id: string; metadata: Record<string, string>; startedAt: Date }[];
  /** Kills a sandbox as if its machine died. */
  kill: (id: string) => Promise<void>;
  close: () => Promise<void>;
};

/**
 * Opens E2B: control plane and sandboxes at one address, for the unchanged SDK. Requests for sandboxes wait until
 * Python has started.
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
  // Avoids an unhandled rejection; callers of `ready` still see it.
  ready.catch(() => undefined);
  const sandboxes = new Sandboxes(zygotes, options.limits ?? {}, templates, options.disk);
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    noteActivity(zygotes, response);
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

/** Counts a request as active while it is young: a cell that runs for minutes does not delay imports. */
function noteActivity(zygotes: Zygotes, response: ServerResponse) {
  zygotes.requestStarted();
  const finish = () => {
    clearTimeout(timer);
    response.off("close", finish);
    zygotes.requestEnded();
  };
  const timer = setTimeout(finish, YOUNG_MS).unref();
  response.once("close", finish);
}

async function answer(sandboxes: Sandboxes, apiKey: string, request: IncomingMessage, response: ServerResponse) {
  const asked = { sandboxes, request, response, url: new URL(request.url ?? "/", "http://localhost") };
  if (header(request, "e2b-sandbox-id")) return answerDataPlane(asked);
  if (header(request, "x-api-key") !== apiKey) {
    throw new Refusal(401, "authorization header is missing or the API key is not the one of this server");
  }
  return answerControlPlane(asked);
}

/** After the first byte, breaking the connection is the only way to report a failure. */
function answerError(response: ServerResponse, error: unknown) {
  if (response.headersSent) {
    response.destroy();
  } else if (error instanceof Refusal) {
    sendJson(response, error.status, error.body, error.headers);
  } else {
    sendJson(response, 500, { code: 500, message: (error as Error).message });
  }
}
