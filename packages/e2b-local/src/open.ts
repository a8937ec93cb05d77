import type { IncomingMessage, ServerResponse } from "node:http";
import { httpServer, openServer } from "@nova/serve-local";
import { answerControlPlane } from "./control-plane.ts";
import { answerDataPlane } from "./data-plane.ts";
import { header, Refusal, sendJson } from "./http.ts";
import { choosePython, type Python } from "./python.ts";
import { type Limits, type ResultsDisk, Sandboxes } from "./sandboxes.ts";
import { Zygotes } from "./zygotes.ts";

const YOUNG_MS = 500;
/** For a request to arrive; a cell may run for longer. Without a limit there would be none for its head, either. */
const maxRequestMs = 60 * 60 * 1000;

export type E2bOptions = {
  /** What X-API-KEY must be; it is also what keeps code in a sandbox from using the control plane. */
  apiKey: string;
  /** The port on 127.0.0.1; absent or 0: any free port. */
  port?: number;
  /** Modules that code may import without installing anything. They are imported ahead. */
  modules?: readonly string[];
  /** Folders that `pip install --target` filled; visible in every sandbox, read-only. */
  sitePackages?: string[];
  /** The environment variable in which a user names a Python; absent: `E2B_LOCAL_PYTHON`. */
  pythonVariable?: string;
  /** A module that every sandbox's Python has imported already, and the folder that it comes from. */
  preloaded?: { folder: string; module: string };
  /** Where it may note which interpreter it chose, so that the next start need not look again. */
  cacheFile?: string;
  /** More such folders by template; those that do not exist are left out. */
  templates?: (templateID: string, python: Python) => string[];
  limits?: Limits;
  /** The disk that clients store results on: while it is full, sandboxes live on. */
  disk?: ResultsDisk;
  warn?: (sentence: string) => void;
  /** No Python starts before the first sandbox is wanted. */
  waits?: boolean;
};

export type E2bServer = {
  apiUrl: string;
  sandboxUrl: string;
  /** Resolves once its Python has started, and at once where that waits for the first sandbox. Rejects with `E2bServerError`. */
  ready: () => Promise<void>;
  /** Known once it is ready. */
  isolated: boolean;
  /** Sandboxes will import the template's packages: they are loaded ahead in the next pause. */
  wantPackages: () => void;
  /** Resolves when they are; sandboxes work before, but import them themselves. */
  warmed: () => Promise<void>;
  sandboxes: () => { id: string; metadata: Record<string, string>; startedAt: Date }[];
  /** As if the machine under the sandbox died. */
  kill: (id: string) => Promise<void>;
  close: () => Promise<void>;
};

/**
 * Opens E2B on this machine: control plane and sandboxes behind one address, for the unchanged SDK. Who asks for a sandbox
 * before its Python has started waits.
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
  // Whoever awaits it hears of a failure; until then it must not count as unheard of.
  ready.catch(() => undefined);
  const sandboxes = new Sandboxes(zygotes, options.limits ?? {}, templates, options.disk);
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    noteActivity(zygotes, response);
    answer(sandboxes, options.apiKey, request, response).catch((error) => answerError(response, error));
  };
  const server = httpServer(listener, { keepAliveTimeout: 650_000, requestTimeout: maxRequestMs });
  const { url, close } = await openServer(server, { port: options.port, breaksConnections: true });
  return {
    ...{ apiUrl: url, sandboxUrl: url, ready: () => ready },
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

/** A request counts as waited for while it is young; a cell that runs for minutes keeps nobody from importing. */
function noteActivity(zygotes: Zygotes, response: ServerResponse) {
  zygotes.began();
  const finish = () => {
    clearTimeout(timer);
    response.off("close", finish);
    zygotes.finished();
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

/** After the first byte there is no other way to say that something failed than to break the connection. */
function answerError(response: ServerResponse, error: unknown) {
  if (response.headersSent) {
    response.destroy();
  } else if (error instanceof Refusal) {
    sendJson(response, error.status, error.body, error.headers);
  } else {
    sendJson(response, 500, { code: 500, message: (error as Error).message });
  }
}
