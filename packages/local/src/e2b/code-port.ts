import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { AgentRefusal, callAgent, forward, openCall, readHead } from "./agent-call.ts";
import { header, Refusal, readJson, sendJson, sendText } from "./http.ts";
import type { Sandbox } from "./sandboxes.ts";

const TOKEN_HEADER = "e2b-traffic-access-token";
const END = Buffer.from('{"type": "end_of_execution"}\n');

const ExecuteBody = z.object({
  code: z.string(),
  context_id: z.string().nullish(),
  language: z.string().nullish(),
  env_vars: z.record(z.string(), z.string()).nullish(),
});
const ContextBody = z.object({ language: z.string().nullish(), cwd: z.string().nullish() });

/** Port 49999, the code interpreter. Its errors are plain text, which the SDK shows as they are. */
export async function answerCodePort(sandbox: Sandbox, request: IncomingMessage, response: ServerResponse, url: URL) {
  requireTrafficToken(sandbox, request);
  try {
    await route(sandbox.lifeline.socketPath, request, response, url);
  } catch (error) {
    if (!(error instanceof AgentRefusal)) throw error;
    sendText(response, error.code === "not_found" ? 404 : 500, error.message);
  }
}

function requireTrafficToken(sandbox: Sandbox, request: IncomingMessage) {
  if (!sandbox.trafficAccessToken) return;
  const given = header(request, TOKEN_HEADER);
  if (given === sandbox.trafficAccessToken) return;
  const problem = given
    ? `Provided token in header '${TOKEN_HEADER}' is invalid`
    : `Token header '${TOKEN_HEADER}' is missing`;
  throw new Refusal(403, `Sandbox is secured with traffic access token. ${problem}`, { sandboxId: sandbox.id });
}

async function route(agent: string, request: IncomingMessage, response: ServerResponse, url: URL) {
  const [, resource, context, action] = url.pathname.split("/");
  switch ([request.method, resource, context && ":id", action].filter(Boolean).join(" ")) {
    case "GET health":
      return sendJson(response, 200, "OK");
    case "POST execute":
      return execute(agent, request, response);
    case "GET contexts":
      return sendJson(response, 200, await callAgent(agent, { op: "contexts.list" }));
    case "POST contexts":
      return createContext(agent, request, response);
    case "POST contexts :id restart":
      await callAgent(agent, { op: "contexts.restart", context });
      return sendJson(response, 200, null);
    case "DELETE contexts :id":
      await callAgent(agent, { op: "contexts.remove", context });
      return sendJson(response, 200, null);
    default:
      return sendJson(response, 404, { detail: "Not Found" });
  }
}

async function execute(agent: string, request: IncomingMessage, response: ServerResponse) {
  const body = ExecuteBody.safeParse(await readJson(request));
  if (!body.success) return sendJson(response, 422, { detail: body.error.issues });
  const { code, context_id: context, language, env_vars: environment } = body.data;
  if (context && language) return sendText(response, 400, "Only one of context_id or language can be provided");
  const socket = openCall(agent, { op: "execute", code, context, language, environment });
  const leave = () => socket.destroy();
  response.once("close", leave);
  await readHead(socket);
  response.off("close", leave);
  response.writeHead(200);
  response.flushHeaders();
  await forward(socket, response, END);
}

async function createContext(agent: string, request: IncomingMessage, response: ServerResponse) {
  const body = ContextBody.safeParse(await readJson(request));
  if (!body.success) return sendJson(response, 422, { detail: body.error.issues });
  sendJson(response, 200, await callAgent(agent, { op: "contexts.create", ...body.data }));
}
