import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { countingCode } from "./chains.ts";

/**
 * The answer of the model for each role of a request. Written code is the same as in the nodes of the other benches.
 */
const answers: Record<string, unknown> = {
  input_analyzer: { needs_analysis: false, complexity: "simple" },
  code_generator: { code: countingCode },
  output_validator: { valid: true, reason: "n is one more" },
};

export interface InstantModel {
  /** Environment variables that direct the OpenAI SDK to this server. */
  environment: Record<string, string>;
  close(): Promise<void>;
}

/** Starts a model provider that answers immediately, so that figures measure the pipeline alone. */
export async function openInstantModel(): Promise<InstantModel> {
  const server = createServer(async (request, response) => {
    // The health check of NOVA asks for the list of models.
    if (request.method !== "POST") return void response.writeHead(404).end();
    const asked = (await json(request)) as { model: string; input: { type?: string }[] };
    const role = roleOf(request);
    const output = role === "text" ? answerOfAgent(asked.input) : [message(JSON.stringify(answers[role]))];
    response.setHeader("content-type", "application/json").end(answerWith(output, asked.model));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    environment: { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_API_KEY: "bench", NOVA_LLM_API: "responses" },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Returns the role that a request names in the form `<role>.<uuid>`. */
function roleOf({ headers }: IncomingMessage): string {
  return String(headers["x-client-request-id"]).split(".")[0] ?? "";
}

/**
 * Returns tool calls until there are as many results as the prompt requests, for example `Make 20 calls, 1 at once.`
 * Then returns a text.
 */
function answerOfAgent(input: readonly { type?: string }[]): object[] {
  const done = input.filter(({ type }) => type === "function_call_output").length;
  const [, all, atOnce] = (/Make (\d+) calls, (\d+) at once/.exec(JSON.stringify(input)) ?? []).map(Number);
  const count = Math.min(atOnce ?? 0, (all ?? 0) - done);
  if (count === 0) return [message("done")];
  return Array.from({ length: count }, (_, index) => {
    const [id, args] = [`call_${done + index}`, JSON.stringify({ n: done + index })];
    return { type: "function_call", id: `fc_${id}`, call_id: id, name: "work", arguments: args, status: "completed" };
  });
}

function message(text: string): object {
  const content = [{ type: "output_text", text, annotations: [] }];
  return { type: "message", id: "msg_bench", role: "assistant", status: "completed", content };
}

function answerWith(output: object[], model: string): string {
  return JSON.stringify({
    id: "resp_bench",
    object: "response",
    created_at: 0,
    status: "completed",
    error: null,
    incomplete_details: null,
    model,
    output,
    usage: {
      input_tokens: 0,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 0,
    },
  });
}
