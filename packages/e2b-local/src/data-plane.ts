import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { AgentGone, AgentRefusal, callAgent, forward, openCall, readHead } from "./agent-call.ts";
import { answerEnvd } from "./envd.ts";
import { asRefusal, header, Refusal, readJson, sendJson, unreachableSandbox } from "./http.ts";
import type { Sandbox, Sandboxes } from "./sandboxes.ts";

const CODE_PORT = "49999";
const ENVD_PORT = "49983";
const TOKEN_HEADER = "e2b-traffic-access-token";
/** The last bytes of a cell's output. */
export const END = Buffer.from('{"type": "end_of_execution"}\n');

const ExecuteBody = z.object({ code: z.string(), context_id: z.string().nullish() });

/** A request to a sandbox, with the state that its operation needs. */
export type SandboxRequest = { sandboxes: Sandboxes; request: IncomingMessage; response: ServerResponse; url: URL };

/** Does the work of E2B's gateway: finds the sandbox and the port that the request's headers name. */
export async function answerDataPlane({ sandboxes, request, response, url }: SandboxRequest) {
  const id = header(request, "e2b-sandbox-id") ?? "";
  const port = header(request, "e2b-sandbox-port") ?? "";
  const sandbox = findSandbox(sandboxes, id);
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

export function findSandbox(sandboxes: Sandboxes, id = ""): Sandbox {
  const sandbox = sandboxes.find(id);
  if (!sandbox) throw unreachableSandbox(id);
  return sandbox;
}

export function checkTrafficToken({ id, trafficAccessToken }: Sandbox, token: string | undefined): void {
  if (!trafficAccessToken || token === trafficAccessToken) return;
  const reason = `Token header '${TOKEN_HEADER}' is missing or invalid`;
  throw new Refusal(403, `Sandbox is secured with traffic access token. ${reason}`, { sandboxId: id });
}

/** Reads the code and the context of a cell from the body of a request. */
export function cellIn(json: unknown): { code: string; context: string | null | undefined } {
  const body = ExecuteBody.safeParse(json);
  if (!body.success) throw new Refusal(422, "the request has no code", { detail: body.error.issues });
  return { code: body.data.code, context: body.data.context_id };
}

/** Converts an error of a request to a sandbox to the refusal that the client gets. */
export function refusalOf(error: unknown, sandbox = ""): Refusal {
  if (error instanceof AgentGone) return unreachableSandbox(sandbox);
  if (error instanceof AgentRefusal) return new Refusal(error.code === "not_found" ? 404 : 500, error.message);
  return asRefusal(error);
}

/** Serves port 49999, the code interpreter. */
async function answerCodePort(sandbox: Sandbox, request: IncomingMessage, response: ServerResponse, url: URL) {
  checkTrafficToken(sandbox, header(request, TOKEN_HEADER));
  const agent = sandbox.lifeline.socketPath;
  const [, resource, context] = url.pathname.split("/");
  try {
    switch (`${request.method} ${resource}${context ? "/:id" : ""}`) {
      case "POST execute":
        return await execute(agent, request, response);
      case "POST contexts":
        return sendJson(response, 200, await callAgent(agent, { op: "contexts.create" }));
      case "DELETE contexts/:id":
        return sendJson(response, 200, await callAgent(agent, { op: "contexts.remove", context }));
    }
  } catch (error) {
    throw error instanceof AgentRefusal ? refusalOf(error) : error;
  }
  throw new Refusal(404, `the local code interpreter has no ${request.method} ${url.pathname}`);
}

async function execute(agent: string, request: IncomingMessage, response: ServerResponse) {
  const socket = openCall(agent, { op: "execute", ...cellIn(await readJson(request)) });
  const leave = () => socket.destroy();
  response.once("close", leave);
  await readHead(socket);
  response.off("close", leave);
  response.writeHead(200);
  response.flushHeaders();
  await forward(socket, response, END);
}
