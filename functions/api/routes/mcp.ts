import { authenticate, demandRole } from "@nova/service";
import { defined } from "@nova/workflow";
import { z } from "zod";
import { credentialsIn, type Received } from "../http/event.ts";
import { callAs, type InnerApi } from "../http/inner.ts";
import { type Answer, openRoute, type Route, refuseQuery } from "../http/route.ts";

/**
 * The longest wait of one call in seconds. API Gateway ends a request after 30 seconds, and the answer needs some time.
 */
const maxWaitSeconds = 20;

const loopback = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Returns the hosts whose web pages may call the route. Here the origin `*` means only the names of this machine: pages
 * of other hosts could otherwise reach the network of this machine.
 */
function originHosts({ origins, hosts = [] }: InnerApi): string[] {
  const named = origins.flatMap((origin) => (origin === "*" ? loopback : [URL.parse(origin)?.hostname ?? ""]));
  return [...hosts, ...named].filter((name) => name !== "");
}

const plain = { "content-type": "text/plain; charset=utf-8" };

export const llms = openRoute("GET /llms.txt", {
  summary: "The index of the documentation for language models, as text (llmstxt.org)",
  answers: { 200: { description: "the index" } },
  serve: async () => ({ status: 200, text: (await import("@nova/mcp")).llmsIndex(), headers: plain }),
});

export const llmsFull = openRoute("GET /llms-full.txt", {
  summary: "All pages of the documentation for language models, as one text",
  answers: { 200: { description: "the pages" } },
  serve: async () => ({ status: 200, text: (await import("@nova/mcp")).llmsFull(), headers: plain }),
});

const Message = z.looseObject({ jsonrpc: z.literal("2.0") });
const Refusal = Message.extend({ error: z.looseObject({ code: z.int(), message: z.string() }) });

export const mcp: Route = {
  method: "POST",
  path: "/mcp",
  role: "viewer",
  summary: "The Model Context Protocol: tools for coding agents, each with the rights of the key",
  body: z.looseObject({ jsonrpc: z.literal("2.0"), method: z.string().optional() }),
  answers: {
    200: { description: "the answer as JSON-RPC 2.0, in JSON or as one event of a stream", schema: Message.optional() },
    202: { description: "the notification has arrived" },
    400: { description: "the body is no request of the protocol", schema: Refusal },
    403: { description: "web pages of this origin may not call", schema: Refusal },
    421: { description: "the header Host names another server", schema: Refusal },
  },
  async serve(ports, received, inner) {
    const by = await authenticate(ports, credentialsIn(received.headers));
    demandRole(by, "viewer");
    refuseQuery(received);
    const [{ answerMcp }, { createExactClient }] = await Promise.all([
      import("@nova/mcp"),
      import("@nova/mcp/exact-client"),
    ]);
    const { token, fetch } = callAs(inner, ports, by);
    const nova = createExactClient({ url: "http://in-process", apiKey: token, fetch }, ["definition"]);
    const doors = { origins: originHosts(inner), ...(inner.hosts && { hosts: inner.hosts }) };
    return answerFrom(await answerMcp(requestOf(received), { nova, maxWaitSeconds }, doors));
  },
};

/**
 * Both media types that an answer may have. The protocol requires that clients accept both, but programs such as curl
 * name none.
 */
const bothTypes = "application/json, text/event-stream";

function requestOf({ headers, text }: Received): Request {
  const { accept = "*/*" } = headers;
  const whole = { ...headers, accept: accept === "*/*" ? bothTypes : accept };
  return new Request("http://in-process/mcp", { method: "POST", headers: defined(whole), body: text });
}

async function answerFrom(answer: Response): Promise<Answer> {
  const text = await answer.text();
  const type = answer.headers.get("content-type");
  return {
    status: answer.status,
    ...(text !== "" && { text }),
    headers: type === null ? {} : { "content-type": type },
  };
}
