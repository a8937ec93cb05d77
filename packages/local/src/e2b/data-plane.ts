import type { IncomingMessage, ServerResponse } from "node:http";
import { AgentGone, AgentRefusal } from "./agent-call.ts";
import { answerCodePort } from "./code-port.ts";
import { answerFiles } from "./envd-files.ts";
import { answerRpc, STATUS_OF_CODE } from "./envd-rpc.ts";
import { header, Refusal, sendJson, sendNothing, unreachableSandbox } from "./http.ts";
import type { Sandbox, Sandboxes } from "./sandboxes.ts";

const CODE_PORT = "49999";
const ENVD_PORT = "49983";

/** What E2B's gateway does: find the sandbox and the port by the request's headers. */
export async function answerDataPlane(
  sandboxes: Sandboxes,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
) {
  const id = header(request, "e2b-sandbox-id") ?? "";
  const port = header(request, "e2b-sandbox-port") ?? "";
  const sandbox = sandboxes.find(id);
  if (sandbox?.state !== "running") throw unreachableSandbox(id);
  const service = { [CODE_PORT]: answerCodePort, [ENVD_PORT]: answerEnvd }[port];
  if (!service) {
    throw new Refusal(502, "The sandbox is running but port is not open", { sandboxId: id, port: Number(port) });
  }
  try {
    await service(sandbox, request, response, url);
  } catch (error) {
    throw error instanceof AgentGone ? unreachableSandbox(id) : error;
  }
}

async function answerEnvd(sandbox: Sandbox, request: IncomingMessage, response: ServerResponse, url: URL) {
  if (request.method === "GET" && url.pathname === "/health") return sendNothing(response);
  if (sandbox.envdAccessToken && header(request, "x-access-token") !== sandbox.envdAccessToken) {
    throw new Refusal(401, "unauthorized access, please provide a valid access token or method signing if supported");
  }
  const agent = sandbox.lifeline.socketPath;
  if (request.method === "POST" && /^\/(process|filesystem)\./.test(url.pathname)) {
    return answerRpc(agent, request, response, url.pathname.slice(1));
  }
  if (url.pathname !== "/files" || !["GET", "POST"].includes(request.method ?? "")) {
    return sendJson(response, 404, { code: 404, message: `envd has no ${request.method} ${url.pathname}` });
  }
  try {
    await answerFiles(agent, request, response, url);
  } catch (error) {
    if (!(error instanceof AgentRefusal)) throw error;
    const status = error.code === "resource_exhausted" ? 507 : (STATUS_OF_CODE[error.code] ?? 500);
    throw new Refusal(status, error.message);
  }
}
