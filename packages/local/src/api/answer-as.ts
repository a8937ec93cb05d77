import { randomBytes } from "node:crypto";
import type { Principal } from "@nova/service";
import type { LocalCloud } from "../cloud/local-cloud.ts";
import { type HttpApi, openHttpApi } from "../http-api/open.ts";

/** The REST API for one caller, who shows `token` and is taken for `principal`. */
export interface ApiForOne extends HttpApi {
  token: string;
}

/** For a command that asks a cloud of its own as it asks a server: what is refused and what is answered is the same. */
export async function answerAs(cloud: LocalCloud, principal: Principal): Promise<ApiForOne> {
  process.env.POWERTOOLS_LOG_LEVEL ??= "SILENT"; // a command says what it has to say itself
  const { createApi } = await import("@nova/functions/api");
  // In three parts, as tokens of issuers are; no other process of this machine can guess it.
  const token = Array.from({ length: 3 }, () => randomBytes(16).toString("hex")).join(".");
  const tokens = { principalOf: async (text: string) => (text === token ? principal : null) };
  const { rates: _, ...service } = cloud.service;
  const api = await openHttpApi({ handler: createApi(() => ({ ...service, tokens }), { origins: [] }) });
  return { ...api, token };
}
