import type { IncomingMessage, ServerResponse } from "node:http";
import { type AgentCall, AgentRefusal, callAgent, forward, openCall, readHead } from "./agent-call.ts";
import { header, Refusal, readBody, readJson, sendJson } from "./http.ts";

/** HTTP statuses of the Connect protocol. */
export const STATUS_OF_CODE: Record<string, number> = {
  invalid_argument: 400,
  failed_precondition: 400,
  unauthenticated: 401,
  not_found: 404,
  already_exists: 409,
  resource_exhausted: 429,
  internal: 500,
  unimplemented: 501,
};

const END_OF_STREAM = 2;
const DEFAULT_KEEPALIVE_SECONDS = 90;
const END = envelope({}, END_OF_STREAM);

type Body = Record<string, unknown>;
type Unary = { call: (body: Body) => AgentCall; answer: (value: unknown) => Body };

const entry = (value: unknown) => ({ entry: value });
const nothing = () => ({});

/** Services of envd whose answer is one message: how the body becomes a call of the agent, and its value the answer. */
const UNARY: Record<string, Unary> = {
  "filesystem.Filesystem/Stat": { call: (body) => ({ ...body, op: "stat" }), answer: entry },
  "filesystem.Filesystem/MakeDir": { call: (body) => ({ ...body, op: "makeDir" }), answer: entry },
  "filesystem.Filesystem/Move": { call: (body) => ({ ...body, op: "move" }), answer: entry },
  "filesystem.Filesystem/Remove": { call: (body) => ({ ...body, op: "remove" }), answer: nothing },
  "filesystem.Filesystem/ListDir": {
    call: (body) => ({ ...body, op: "list" }),
    answer: (entries) => ({ entries }),
  },
  "process.Process/List": { call: () => ({ op: "processes" }), answer: (processes) => ({ processes }) },
  "process.Process/SendInput": { call: (body) => ({ ...body, op: "input" }), answer: nothing },
  "process.Process/CloseStdin": { call: (body) => ({ ...body, op: "closeStdin" }), answer: nothing },
  "process.Process/SendSignal": { call: (body) => ({ ...body, op: "signal" }), answer: nothing },
};

const STREAMING: Record<string, string> = { "process.Process/Start": "start", "process.Process/Connect": "connect" };

export async function answerRpc(agent: string, request: IncomingMessage, response: ServerResponse, method: string) {
  const user = userOf(request);
  const op = STREAMING[method];
  if (op) return stream(agent, op, user, request, response);
  const unary = UNARY[method];
  if (!unary) {
    return sendJson(response, 501, { code: "unimplemented", message: `the local sandbox has no ${method}` });
  }
  try {
    const value = await callAgent(agent, { ...unary.call(await readJson(request)), user });
    sendJson(response, 200, unary.answer(value));
  } catch (error) {
    if (!(error instanceof AgentRefusal)) throw error;
    sendJson(response, STATUS_OF_CODE[error.code] ?? 500, { code: error.code, message: error.message });
  }
}

/** The agent writes the stream's envelopes itself; only a refusal before the first one is made here. */
async function stream(
  agent: string,
  op: string,
  user: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const message = openEnvelope(await readBody(request));
  const timeoutMs = Number(header(request, "connect-timeout-ms") ?? 0);
  const keepaliveSeconds = Number(header(request, "keepalive-ping-interval") ?? DEFAULT_KEEPALIVE_SECONDS);
  const socket = openCall(agent, { ...message, op, user, timeoutMs, keepaliveSeconds });
  response.setHeader("content-type", "application/connect+json");
  try {
    await readHead(socket);
  } catch (error) {
    if (!(error instanceof AgentRefusal)) throw error;
    response.end(envelope({ error: { code: error.code, message: error.message } }, END_OF_STREAM));
    return;
  }
  response.flushHeaders();
  await forward(socket, response, END);
}

/** One message: a byte of flags, the length, the JSON. */
function envelope(message: unknown, flags: number): Buffer {
  const payload = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
}

function openEnvelope(body: Buffer): Body {
  const size = body.length >= 5 ? body.readUInt32BE(1) : -1;
  if (size !== body.length - 5) throw new Refusal(400, "the request is not one message of the Connect protocol");
  return JSON.parse(body.subarray(5).toString()) as Body;
}

/** envd takes the user's name from basic authentication, without a password. */
function userOf(request: IncomingMessage): string | undefined {
  const encoded = /^Basic (.*)$/.exec(request.headers.authorization ?? "")?.[1];
  return encoded ? Buffer.from(encoded, "base64").toString().split(":")[0] : undefined;
}
