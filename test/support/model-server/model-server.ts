import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { ModelEnvironment } from "../../../packages/agents/src/model/create-models.ts";
import { answerBody } from "./answers.ts";
import type { ModelRequest } from "./model-request.ts";
import { RequestRefused, readRequest } from "./read-request.ts";
import { type Exchange, type ModelAction, mismatch, type Trouble } from "./script.ts";

export type { ModelRequest } from "./model-request.ts";
export { type Exchange, type ModelAction, retriedAtOnce } from "./script.ts";

/**
 * Returns the answer to any request. A test needs this if requests have no fixed order, because deliveries are repeated
 * or parallel.
 */
export type Respond = (request: ModelRequest) => ModelAction | Promise<ModelAction>;

export interface ModelServer extends AsyncDisposable {
  /** The value for `OPENAI_BASE_URL`. */
  url: string;
  /** The environment variables with key and URL, for `createModels` or a process. */
  environment: ModelEnvironment & { OPENAI_API_KEY: string; OPENAI_BASE_URL: string };
  /** All requests that the server did not refuse, in the order in which they arrived. */
  requests: ModelRequest[];
  /** Throws if the requests differed from the script. Disposing the server does the same. */
  verify(): void;
}

/**
 * Starts a server on 127.0.0.1 that acts as OpenAI. Its answers come from a script, or from a function of the request.
 */
export async function modelServer(plan: Exchange[] | Respond): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const complaints: string[] = [];
  const script = typeof plan === "function" ? undefined : [...plan];
  const respond = typeof plan === "function" ? plan : (request: ModelRequest) => next(script ?? [], request);
  const server = createServer(async (incoming, outgoing) => {
    try {
      const request = readRequest(incoming.url ?? "", incoming.headers, await text(incoming));
      requests.push(request);
      await act(outgoing, request, await respond(request), String(requests.length));
    } catch (error) {
      complaints.push(error instanceof Error ? error.message : String(error));
      refuse(outgoing, error);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const verify = () => {
    const left = (script ?? []).map(({ expect }) => `never asked for: ${JSON.stringify(expect ?? {})}`);
    const all = [...complaints.splice(0), ...left];
    if (all.length > 0) {
      throw new Error(`the models were not asked as the script says:\n${all.join("\n")}`);
    }
  };
  return {
    url,
    environment: { OPENAI_API_KEY: "key-of-the-test", OPENAI_BASE_URL: url },
    requests,
    verify,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      verify();
    },
  };
}

/** Removes the next exchange from the script and returns its answer. Throws if the request does not fit. */
function next(script: Exchange[], request: ModelRequest): ModelAction {
  const exchange = script[0];
  const problem = exchange ? mismatch(exchange.expect ?? {}, request) : "the script is at its end";
  if (!exchange || problem) {
    throw new Error(`unexpected request of the ${request.role}: ${problem}`);
  }
  script.shift();
  return exchange.answer;
}

async function act(outgoing: ServerResponse, request: ModelRequest, action: ModelAction, id: string): Promise<void> {
  if ("status" in action || "dropped" in action || "silent" in action) {
    return trouble(outgoing, action);
  }
  await action.after;
  const body = answerBody(request, action, id);
  if (!request.stream) {
    outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    return;
  }
  outgoing.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of request.api === "chat" ? chatEvents(body) : responsesEvents(body)) {
    outgoing.write(event);
  }
  outgoing.end();
}

function trouble(outgoing: ServerResponse, action: Trouble): void {
  if ("status" in action) {
    const { status, code = null, message = `status ${status}`, headers } = action;
    outgoing.writeHead(status, { "content-type": "application/json", ...headers });
    outgoing.end(JSON.stringify({ error: { message, type: "scripted", param: null, code } }));
  } else if ("dropped" in action) {
    if (action.dropped === "within") {
      outgoing.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      outgoing.write('{"id": "cut');
    }
    // Waits before it closes the connection, so that the bytes of the answer are sent first.
    setImmediate(() => outgoing.destroy());
  }
}

/** Refuses a request with an answer that the SDK does not retry. */
function refuse(outgoing: ServerResponse, error: unknown): void {
  const status = error instanceof RequestRefused ? error.status : 400;
  const message = error instanceof Error ? error.message : String(error);
  outgoing.writeHead(status, { "content-type": "application/json", "x-should-retry": "false" });
  outgoing.end(JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code: null } }));
}

/** Returns a responder with one answer for each role. A request of any other role fails. */
export function byRole(answers: Partial<Record<ModelRequest["role"], ModelAction | Respond>>): Respond {
  return (request) => {
    const answer = answers[request.role];
    if (answer === undefined) {
      throw new Error(`unexpected request of the ${request.role}`);
    }
    return typeof answer === "function" ? answer(request) : answer;
  };
}

type Json = Record<string, unknown>;

/** Splits an answer of the Responses API into server-sent events. */
function responsesEvents(body: Json): string[] {
  const output = body.output as Json[];
  const open = { ...body, status: "in_progress", output: [], usage: null };
  const ending = { completed: "response.completed", incomplete: "response.incomplete", failed: "response.failed" };
  const events = [
    { type: "response.created", response: open },
    ...output.flatMap((item, index) => itemEvents(item, index)),
    { type: ending[body.status as keyof typeof ending], response: body },
  ];
  return events.map((event, sequence_number) => {
    return `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`;
  });
}

function itemEvents(item: Json, output_index: number): (Json & { type: string })[] {
  const part = (item.content as Json[] | undefined)?.[0];
  if (part?.type !== "output_text") {
    return [
      { type: "response.output_item.added", output_index, item },
      { type: "response.output_item.done", output_index, item },
    ];
  }
  const at = { output_index, content_index: 0, item_id: item.id };
  return [
    { type: "response.output_item.added", output_index, item: { ...item, content: [] } },
    { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
    ...pieces(String(part.text)).map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
    { type: "response.output_text.done", ...at, text: part.text, logprobs: [] },
    { type: "response.content_part.done", ...at, part },
    { type: "response.output_item.done", output_index, item },
  ];
}

/** Splits an answer of Chat Completions into server-sent events. */
function chatEvents(body: Json): string[] {
  const [{ message, finish_reason }] = body.choices as [{ message: Json; finish_reason: string }];
  const chunk = (delta: Json, reason: string | null = null) => ({
    ...body,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: reason }],
    usage: null,
  });
  const calls = (message.tool_calls as Json[] | undefined)?.map((call, index) => ({ index, ...call }));
  const chunks = [
    chunk({ role: "assistant", ...(message.refusal ? { refusal: message.refusal } : {}) }),
    ...pieces(String(message.content ?? "")).map((content) => chunk({ content })),
    ...(calls ? [chunk({ tool_calls: calls })] : []),
    chunk({}, finish_reason),
    { ...body, object: "chat.completion.chunk", choices: [] },
  ];
  return [...chunks.map((data) => `data: ${JSON.stringify(data)}\n\n`), "data: [DONE]\n\n"];
}

function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,20}/g) ?? [];
}
