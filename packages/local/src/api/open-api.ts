import { randomUUID } from "node:crypto";
import { Capacity } from "@nova/aws-local";
import { type HttpApi, type HttpApiHandler, openHttpApi } from "@nova/aws-local/http-api";
import { announceApi } from "../cloud/environment.ts";
import { portError } from "../cloud/errors.ts";
import type { LocalCloud } from "../cloud/local-cloud.ts";
import { openConsole } from "../console/open-console.ts";
import type { OwnKey } from "./own-key.ts";

interface ApiOptions {
  /** The port; 0: any free port. */
  port: number;
  /** Host names that requests may carry, in addition to loopback names. */
  hosts?: readonly string[];
  /** Receives errors of NOVA itself. The caller of the API learns only that an error occurred. */
  onFailure?: (error: unknown) => void;
  /** Returns the folder of the built console. It is called when a browser first requests `/console/`. */
  page?: () => Promise<string>;
}

export interface LocalApi extends HttpApi {
  key: OwnKey;
  /** Returns a URL of the console with which a browser can sign in once. */
  consoleLink(): string;
}

/**
 * Opens the REST API of a cloud that this process owns. Web pages of any origin may call the API. Throws
 * `LocalCloudError` if it cannot listen on the port.
 */
export async function openApi(cloud: LocalCloud, { port, hosts = [], onFailure, page }: ApiOptions): Promise<LocalApi> {
  const [{ createApi }, { readOwnKey }] = await Promise.all([import("@nova/functions/api"), import("./own-key.ts")]);
  const handler = createApi(() => cloud.service, { origins: ["*"] });
  const key = await readOwnKey(cloud.dataDir, cloud.service);
  const blobOrigin = cloud.environment.AWS_ENDPOINT_URL_S3 as string;
  const folder = page ?? noPage;
  const pages = openConsole({ folder, apiKey: key.text, blobOrigin, env: process.env, onFailure });
  const api = await openHttpApi({
    handler: limitConcurrency(handler, cloud),
    port,
    hosts,
    ...(onFailure && { onFailure }),
    hostAdvice: "start nova dev with --host and that name",
    pages: pages.serve,
  }).catch((cause) => {
    throw portError(port, cause, "--port");
  });
  announceApi(api.url, page && pages.tasksAt(api.url));
  return { ...api, key, consoleLink: () => pages.link(api.url) };
}

async function noPage(): Promise<never> {
  throw new RangeError("this API was opened without a page - use `nova dev`");
}

/** The largest number of requests that the API handles at the same time. */
const maxRequests = 8;
/** After this time a request counts as waiting for a model or a run, and no longer counts towards the limit. */
const longMs = 500;

/**
 * Limits how many requests work at the same time. On AWS each request has its own Lambda, but here all requests share
 * one process. Senders take turns, so a sender of a hundred requests does not delay the others. The time limit of a
 * request starts when its turn starts. The API answers requests that read or start runs before runs start further
 * nodes.
 */
export function limitConcurrency(
  handler: HttpApiHandler,
  { holdWork }: Pick<LocalCloud, "holdWork">,
  capacity = new Capacity<object>(maxRequests),
): HttpApiHandler {
  return async (event, context) => {
    const { headers, requestContext, rawPath, rawQueryString } = event;
    const { method, sourceIp } = requestContext.http;
    // A request with `wait` does not count towards the limit. It waits for the end of a run, and does little work.
    if (/(?:^|&)wait=/.test(rawQueryString)) return handler(event, context);
    const startsRun = method === "POST" && /\/(?:execute|restart)$/.test(rawPath);
    const endHold = startsRun || method === "GET" ? holdWork({ startsRun }) : undefined;
    const owner = headers.authorization ?? sourceIp;
    const arrived = Date.now();
    await capacity.enter(context, { owner, work: randomUUID(), since: arrived });
    const leave = () => {
      capacity.leave(context);
      endHold?.();
    };
    const waitedMs = Date.now() - arrived;
    const timer = setTimeout(leave, longMs).unref();
    const getRemainingTimeInMillis = () => context.getRemainingTimeInMillis() + waitedMs;
    try {
      return await handler(event, { ...context, getRemainingTimeInMillis });
    } finally {
      clearTimeout(timer);
      leave();
    }
  };
}
