import { type HttpApi, openHttpApi } from "@nova/aws-local/http-api";
import { announceApi } from "../cloud/environment.ts";
import { notOpened } from "../cloud/errors.ts";
import type { LocalCloud } from "../cloud/local-cloud.ts";
import { openConsole } from "../console/open-console.ts";
import { inTurns } from "./in-turns.ts";
import type { OwnKey } from "./own-key.ts";

export interface ApiOptions {
  /** 0: any that is free. */
  port: number;
  /** Host names that requests may carry, apart from those of loopback addresses. */
  hosts?: readonly string[];
  /** Hears what failed in NOVA itself: a caller only learns that something did. */
  onFailure?: (error: unknown) => void;
  /** Where the built page is that is served at `/console/`; called when a browser asks for it. */
  page?: () => Promise<string>;
}

export interface LocalApi extends HttpApi {
  key: OwnKey;
  /** An address of the page that signs in once. */
  consoleLink(): string;
}

/** The REST API in front of a cloud that this process owns, for pages of any origin. Throws `LocalCloudError`. */
export async function openApi(cloud: LocalCloud, { port, hosts = [], onFailure, page }: ApiOptions): Promise<LocalApi> {
  const [{ createApi }, { ownKey }] = await Promise.all([import("@nova/functions/api"), import("./own-key.ts")]);
  const handler = createApi(() => cloud.service, { origins: ["*"] });
  const key = await ownKey(cloud.dataDir, cloud.service);
  const blobOrigin = cloud.environment.AWS_ENDPOINT_URL_S3 as string;
  const folder = page ?? noPage;
  const pages = openConsole({ folder, apiKey: key.text, blobOrigin, env: process.env, onFailure });
  const onRequest = (address: string) => (starting.test(address) ? cloud.holdWork() : undefined);
  const api = await openHttpApi({
    handler: inTurns(handler),
    port,
    hosts,
    ...(onFailure && { onFailure }),
    hostAdvice: "start nova dev with --host and that name",
    onRequest,
    pages: pages.serve,
  }).catch((cause) => {
    throw notOpened(port, cause, "--port");
  });
  announceApi(api.url);
  return { ...api, key, consoleLink: () => pages.link(api.url) };
}

/** Requests that start runs, and do not wait for their ends: they are answered before what was started goes on. */
const starting = /^[^?]*\/(?:execute|restart)(?:$|\?(?!.*\bwait))/;

async function noPage(): Promise<never> {
  throw new RangeError("this API was opened without a page - use `nova dev`");
}
