import { randomBytes } from "node:crypto";
import type { Principal, ServicePorts } from "@nova/service";
import type { HttpAnswer, HttpEvent } from "./event.ts";

/** The whole API as a function without a socket. */
export interface InnerApi {
  /** Returns a handler of all routes with these ports. */
  with(ports: ServicePorts): (event: HttpEvent) => Promise<HttpAnswer>;
  /** Host names that requests may carry. Absent: a server in front of the API has checked the host name. */
  hosts?: readonly string[];
  /** Origins of web pages that may call the API; `*`: all. */
  origins: readonly string[];
}

/** The REST API for one caller in this process. A request with `token` has the rights of that caller. */
export interface ApiForOne {
  token: string;
  /** Answers a request without a socket. */
  fetch: (request: Request) => Promise<Response>;
}

/** Creates a REST API in this process. It answers each request as if `principal` had sent the request to a server. */
export function callAs(
  inner: Pick<InnerApi, "with">,
  { rates: _, ...ports }: ServicePorts,
  principal: Principal,
): ApiForOne {
  // The token has three parts like the tokens of issuers, so that the API passes it to `tokens`.
  const token = Array.from({ length: 3 }, () => randomBytes(16).toString("hex")).join(".");
  const tokens = { principalOf: async (text: string) => (text === token ? principal : null) };
  const handler = inner.with({ ...ports, tokens });
  return {
    token,
    fetch: async (request) => {
      const { statusCode, headers, body, isBase64Encoded } = await handler(await eventOf(request));
      return new Response(body === undefined ? null : Buffer.from(body, isBase64Encoded ? "base64" : "utf8"), {
        status: statusCode,
        headers,
      });
    },
  };
}

async function eventOf(request: Request): Promise<HttpEvent> {
  const { pathname, search } = new URL(request.url);
  const body = await request.text();
  return {
    version: "2.0",
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers: Object.fromEntries(request.headers),
    requestContext: { http: { method: request.method, path: pathname } },
    ...(body !== "" && { body }),
    isBase64Encoded: false,
  };
}
