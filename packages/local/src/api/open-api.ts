import { announceApi } from "../cloud/environment.ts";
import type { LocalCloud } from "../cloud/local-cloud.ts";
import { type HttpApi, openHttpApi } from "../http-api/open.ts";
import type { OwnKey } from "./own-key.ts";

export interface ApiOptions {
  /** 0: any that is free. */
  port: number;
  /** Hears what failed in NOVA itself: a caller only learns that something did. */
  onFailure?: (error: unknown) => void;
}

export interface LocalApi extends HttpApi {
  key: OwnKey;
}

/** The REST API in front of a cloud that this process owns, for pages of any origin. Throws `LocalCloudError`. */
export async function openApi(cloud: LocalCloud, { port, onFailure }: ApiOptions): Promise<LocalApi> {
  const [{ createApi }, { ownKey }] = await Promise.all([import("@nova/functions/api"), import("./own-key.ts")]);
  const handler = createApi(() => cloud.service, { origins: ["*"] });
  const key = await ownKey(cloud.dataDir, cloud.service);
  const api = await openHttpApi({ handler, port, ...(onFailure && { onFailure }) });
  announceApi(api.url);
  return { ...api, key };
}
