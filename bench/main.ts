import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { json } from "node:stream/consumers";
import { parseArgs, styleText } from "node:util";
import { dataFolder } from "@nova/cli";
import { openLocalCloud } from "@nova/local";
import { chooseBenches, takeFigures } from "./bench.ts";
import { countingCode } from "./chains.ts";
import type { Figure } from "./figure.ts";

/**
 * Runs all benches (`npm run bench`) or the named ones (`npm run bench cold-run memory`). With `--json` it prints one
 * JSON object (`npm run -s bench -- --json`). Returns true if every figure meets its aim.
 */
async function main(argv: string[]): Promise<boolean> {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: { json: { type: "boolean", default: false } },
  });
  const chosen = chooseBenches(positionals);
  await using stack = new AsyncDisposableStack();
  const model = await openInstantModel();
  stack.defer(() => model.close());
  Object.assign(process.env, model.environment, { NOVA_FROZEN: "false" });
  const warn = (sentence: string) => console.error(`bench: ${sentence}`);
  const open = async () => {
    const cloud = await openLocalCloud({ dataDir: resolve(dataFolder(), "bench"), warn });
    stack.defer(() => cloud.close());
    return cloud;
  };
  const figures = await takeFigures(open, chosen, (figure) => {
    if (!values.json) console.log(lineOf(figure));
  });
  if (values.json) console.log(JSON.stringify({ figures }));
  return figures.every(({ met }) => met !== false);
}

function lineOf({ name, aim, value, met, detail }: Figure): string {
  const mark = met === null ? styleText("yellow", "-") : met ? styleText("green", "✓") : styleText("red", "✗");
  if (detail.skipped) return `${mark} ${styleText(["bold", "red"], `NOT TAKEN: ${detail.skipped}`)} - ${name}`;
  const parts = Object.entries(detail).map(([key, one]) => `${key} ${one}`);
  const shown = styleText("bold", String(value));
  return `${mark} ${name}: ${shown} (aim: ${aim}) ${styleText("dim", parts.join(", "))}`;
}

// The servers and processes that this process has started end with it.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(2));
try {
  process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 2;
}

/** The answers of the model by role of the request. The code is the same as in the nodes of the other benches. */
const answers: Record<string, unknown> = {
  input_analyzer: { needs_analysis: false, complexity: "simple" },
  code_generator: { code: countingCode },
  output_validator: { valid: true, reason: "n is one more" },
};

interface InstantModel {
  /** Environment variables that direct the OpenAI SDK to this server. */
  environment: Record<string, string>;
  close(): Promise<void>;
}

/** Starts a model provider that answers immediately, so that figures measure the pipeline alone. */
async function openInstantModel(): Promise<InstantModel> {
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

/** Requests calls until there are as many results as the prompt says: `Make 20 calls, 1 at once.` */
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
