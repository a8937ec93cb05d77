import { randomBytes } from "node:crypto";
import type { Principal } from "@nova/service";
import type { LocalCloud } from "../cloud/local-cloud.ts";

/** The REST API for one caller in this process. A request with `token` acts as the principal. */
interface ApiForOne {
  token: string;
  /** Answers a request without a socket. */
  fetch(request: Request): Promise<Response>;
}

/** Opens the REST API for a command: requests in this process get the same answers as requests to a server. */
export async function answerAs(cloud: LocalCloud, principal: Principal): Promise<ApiForOne> {
  process.env.POWERTOOLS_LOG_LEVEL ??= "SILENT"; // the command prints its own errors
  const { createApi } = await import("@nova/functions/api");
  // The token has three parts like the tokens of issuers, so that the API passes it to `tokens`.
  const token = Array.from({ length: 3 }, () => randomBytes(16).toString("hex")).join(".");
  const tokens = { principalOf: async (text: string) => (text === token ? principal : null) };
  const { rates: _, ...service } = cloud.service;
  const handler = createApi(() => ({ ...service, tokens }));
  return {
    token,
    async fetch(request) {
      const { statusCode, headers, body, isBase64Encoded } = await handler(await eventOf(request), context);
      return new Response(body === undefined ? null : Buffer.from(body, isBase64Encoded ? "base64" : "utf8"), {
        status: statusCode,
        headers,
      });
    },
  };
}

/** A command has no time limit, so this is the longest timer of Node. */
const context = { awsRequestId: "in-process", getRemainingTimeInMillis: () => 2 ** 31 - 1 };

async function eventOf(request: Request) {
  const { pathname, search } = new URL(request.url);
  const body = await request.text();
  return {
    version: "2.0" as const,
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers: Object.fromEntries(request.headers),
    requestContext: { http: { method: request.method, path: pathname } },
    ...(body !== "" && { body }),
    isBase64Encoded: false,
  };
}
