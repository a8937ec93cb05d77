import { type HttpApi, openHttpApi } from "@nova/aws-local/http-api";
import { announceApi } from "../cloud/environment.ts";
import { portError } from "../cloud/errors.ts";
import type { LocalCloud } from "../cloud/local-cloud.ts";
import { openConsole } from "../console/open-console.ts";
import { limitConcurrency } from "./in-turns.ts";
import type { OwnKey } from "./own-key.ts";

export interface ApiOptions {
  /** The port; 0: any free port. */
  port: number;
  /** Host names that requests may carry, in addition to loopback names. */
  hosts?: readonly string[];
  /** Receives errors of NOVA itself: the caller of the API learns only that an error occurred. */
  onFailure?: (error: unknown) => void;
  /**
   * Returns the folder of the built page, which is served at `/console/`. It is called when a browser requests the
   * page.
   */
  page?: () => Promise<string>;
}

export interface LocalApi extends HttpApi {
  key: OwnKey;
  /** Returns an address of the page that signs in once. */
  consoleLink(): string;
}

/** Opens the REST API of a cloud that this process owns. Pages of any origin may call it. Throws `LocalCloudError`. */
export async function openApi(cloud: LocalCloud, { port, hosts = [], onFailure, page }: ApiOptions): Promise<LocalApi> {
  const [{ createApi }, { readOwnKey }] = await Promise.all([import("@nova/functions/api"), import("./own-key.ts")]);
  const handler = createApi(() => cloud.service, { origins: ["*"] });
  const key = await readOwnKey(cloud.dataDir, cloud.service);
  const blobOrigin = cloud.environment.AWS_ENDPOINT_URL_S3 as string;
  const folder = page ?? noPage;
  const pages = openConsole({ folder, apiKey: key.text, blobOrigin, env: process.env, onFailure });
  const onRequest = (address: string) => (starting.test(address) ? cloud.holdWork() : undefined);
  const api = await openHttpApi({
    handler: limitConcurrency(handler),
    port,
    hosts,
    ...(onFailure && { onFailure }),
    hostAdvice: "start nova dev with --host and that name",
    onRequest,
    pages: pages.serve,
  }).catch((cause) => {
    throw portError(port, cause, "--port");
  });
  announceApi(api.url);
  return { ...api, key, consoleLink: () => pages.link(api.url) };
}

/**
 * Matches requests that start runs without waiting for their end: the API answers them before the new runs do any work.
 */
const starting = /^[^?]*\/(?:execute|restart)(?:$|\?(?!.*\bwait))/;

async function noPage(): Promise<never> {
  throw new RangeError("this API was opened without a page - use `nova dev`");
}
