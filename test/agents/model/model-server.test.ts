import { createModels } from "@nova/agents";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { modelCall } from "../../support/model-server/model-call.ts";
import { byRole, type Exchange, modelServer, type Respond } from "../../support/model-server/model-server.ts";
import { strictSchemaProblems } from "../../support/model-server/strict-schema.ts";

const code = { json: { code: "x" } };

/**
 * Runs `use` against a server with this script. Returns the message of the error that the server throws when it is
 * closed, or "as the script says" if it throws none.
 */
async function verdictOf(
  plan: Exchange[] | Respond,
  use: (server: { url: string }) => Promise<unknown>,
): Promise<string> {
  const server = await modelServer(plan);
  await use(server).catch(() => undefined);
  return Promise.resolve(server[Symbol.asyncDispose]()).then(
    () => "as the script says",
    (error: Error) => error.message,
  );
}

const asking = (server: { url: string }, input?: string) =>
  createModels({ OPENAI_BASE_URL: server.url }).ask(modelCall(input ? { input } : {}));

const posting =
  (path: string, body: unknown, headers: Record<string, string> = {}) =>
  ({ url }: { url: string }) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: "Bearer k", "x-client-request-id": "code_generator.1", ...headers },
      body: JSON.stringify(body),
    });

describe("a scripted provider for tests", () => {
  it("reports no problem if the requests follow the script", async () => {
    expect(await verdictOf([{ answer: code }], asking)).toBe("as the script says");
  });

  it.each<[string, Exchange[], string]>([
    ["a request after the end of the script", [], "unexpected request of the code_generator: the script is at its end"],
    [
      "a scripted request that never comes",
      [{ answer: code }, { expect: { role: "data_analyzer" }, answer: code }],
      'never asked for: {"role":"data_analyzer"}',
    ],
    [
      "a request of another agent",
      [{ expect: { role: "input_analyzer" }, answer: code }],
      'role is "code_generator", not "input_analyzer"',
    ],
    [
      "a request of another model",
      [{ expect: { model: "gpt-6-luna" }, answer: code }],
      'model is "gpt-6.1-terra", not "gpt-6-luna"',
    ],
    ["a prompt without a required text", [{ expect: { says: ["taxes"] }, answer: code }], "it does not say taxes"],
    ["a prompt with a forbidden text", [{ expect: { hides: [/total/] }, answer: code }], "it says /total/"],
  ])("reports requests that do not follow the script: %s", async (_what, script, complaint) => {
    expect(await verdictOf(script, asking)).toContain(complaint);
  });

  it("reports a request of an agent for which it has no answers", async () => {
    const verdict = await verdictOf(byRole({ input_analyzer: code }), asking);
    expect(verdict).toContain("unexpected request of the code_generator");
  });

  it("can answer the requests of an agent in any order and any number of times", async () => {
    await using server = await modelServer(byRole({ code_generator: ({ input }) => ({ json: { code: input } }) }));
    const answers = await Promise.all([asking(server, "a"), asking(server, "b"), asking(server, "a")]);
    expect(answers.map(({ value }) => value.code)).toEqual(["a", "b", "a"]);
    expect(server.requests).toHaveLength(3);
  });

  it("delays an answer until the test releases it", async () => {
    const { promise: after, resolve } = Promise.withResolvers<void>();
    await using server = await modelServer([{ answer: { ...code, after } }]);
    let answered = false;
    const answer = asking(server).finally(() => {
      answered = true;
    });
    while (server.requests.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(answered).toBe(false);
    resolve();
    expect(await answer).toMatchObject({ value: { code: "x" } });
  });
});

const responses = { model: "m", store: false, input: [{ role: "user", content: "x" }] };
const chat = { model: "m", messages: [{ role: "user", content: "x" }] };
const format = { type: "json_schema", name: "n", strict: true, schema: { type: "object" } };

describe("a strict provider for tests", () => {
  it.each<[string, string, unknown, string]>([
    ["an unknown field", "/responses", { ...responses, seed: 1 }, 'Unrecognized key: "seed"'],
    ["a field of another API", "/chat/completions", { ...chat, instructions: "x" }, 'Unrecognized key: "instructions"'],
    ["a flag to store the prompt", "/responses", { ...responses, store: true }, "store is not false"],
    [
      "a schema that allows other keys",
      "/responses",
      { ...responses, text: { format } },
      "'additionalProperties' is required",
    ],
    [
      "a message of an unknown role",
      "/chat/completions",
      { ...chat, messages: [{ role: "robot", content: "x" }] },
      "messages[0].role",
    ],
    ["a tool call without its result", "/responses", { ...responses, input: [call()] }, "No tool output found for c1"],
    ["a tool result without its call", "/responses", { ...responses, input: [result()] }, "No tool call found for c1"],
    [
      "thoughts without their content",
      "/responses",
      { ...responses, input: [{ type: "reasoning", id: "rs_1" }] },
      "input[0]",
    ],
    ["an empty list of texts to embed", "/embeddings", { model: "m", input: [] }, "input"],
    ["an unknown path", "/completions", chat, "Invalid URL"],
  ])("refuses a request with %s", async (_what, path, body, complaint) => {
    expect(await verdictOf(() => code, posting(path, body))).toContain(complaint);
  });

  it("refuses a request without an API key", async () => {
    const verdict = await verdictOf(() => code, posting("/responses", responses, { authorization: "" }));
    expect(verdict).toContain("You didn't provide an API key.");
  });

  it("refuses a request whose id does not start with the name of an agent", async () => {
    const verdict = await verdictOf(
      () => code,
      posting("/responses", responses, { "x-client-request-id": "somebody" }),
    );
    expect(verdict).toContain("does not begin with the role");
  });

  function call() {
    return { type: "function_call", call_id: "c1", name: "search", arguments: "{}" };
  }

  function result() {
    return { type: "function_call_output", call_id: "c1", output: "found" };
  }
});

describe("a schema that must fulfil OpenAI's rules for strict schemas", () => {
  const object = (changes: object) => ({
    type: "object",
    properties: {},
    required: [],
    additionalProperties: false,
    ...changes,
  });
  const text = { type: "string" };

  it.each([
    ["no keys", object({})],
    ["only required keys", object({ properties: { a: text }, required: ["a"] })],
    [
      "alternatives below its root",
      object({ properties: { a: { anyOf: [text, { type: "null" }] } }, required: ["a"] }),
    ],
    ["lists of objects", object({ properties: { a: { type: "array", items: object({}) } }, required: ["a"] })],
  ])("is accepted with %s", (_what, schema) => {
    expect(strictSchemaProblems(schema)).toEqual([]);
  });

  it.each([
    ["a list at its root", { type: "array", items: text }, /must be an object/],
    ["alternatives at its root", object({ anyOf: [] }), /must be an object/],
    ["an optional key", object({ properties: { a: text } }), /Missing 'a'/],
    [
      "an object that allows other keys in a member",
      object({ properties: { a: { type: "object" } }, required: ["a"] }),
      /context=\(\/a\), 'additionalProperties'/,
    ],
    [
      "an object that allows other keys in a list",
      object({ properties: { a: { items: { type: "object" } } }, required: ["a"] }),
      /\/a\/items/,
    ],
    [
      "an object that allows other keys among alternatives",
      object({ properties: { a: { anyOf: [{ type: "object" }] } }, required: ["a"] }),
      /anyOf\/0/,
    ],
    [
      "a default value",
      object({ properties: { a: { ...text, default: "x" } }, required: ["a"] }),
      /'default' is not permitted/,
    ],
  ])("is refused with %s", (_what, schema, problem) => {
    expect(strictSchemaProblems(schema)).toEqual([expect.stringMatching(problem)]);
  });

  it("is refused if it has more than ten levels", () => {
    let schema = object({});
    for (let depth = 0; depth < 10; depth++) {
      schema = object({ properties: { a: schema }, required: ["a"] });
    }
    expect(strictSchemaProblems(schema)).toEqual([expect.stringContaining("deeper than 10 levels")]);
  });
});

describe("a provider for tests that streams its responses", () => {
  const who = { headers: { "X-Client-Request-Id": "code_generator.1" } };
  const long = { code: "print('a line of some length')\n".repeat(5) };
  const clientOf = (baseURL: string) => new OpenAI({ apiKey: "k", baseURL });

  it("sends a response of the Responses API in pieces that add up to the whole response", async () => {
    await using server = await modelServer([{ expect: { api: "responses" }, answer: { json: long } }]);
    const stream = clientOf(server.url).responses.stream(responses as never, who);
    let deltas = "";
    stream.on("response.output_text.delta", ({ delta }) => {
      deltas += delta;
    });
    const final = await stream.finalResponse();
    expect(JSON.parse(final.output_text)).toEqual(long);
    expect(deltas).toBe(final.output_text);
    expect(final.usage).toMatchObject({ input_tokens: 1000, output_tokens: 100 });
  });

  it("sends a response of Chat Completions in pieces that add up to the whole response", async () => {
    await using server = await modelServer([{ expect: { api: "chat" }, answer: { json: long } }]);
    const stream = clientOf(server.url).chat.completions.stream(chat as never, who);
    const { choices, usage } = await stream.finalChatCompletion();
    expect(JSON.parse(choices[0]?.message.content ?? "")).toEqual(long);
    expect(usage).toMatchObject({ prompt_tokens: 1000 });
  });

  it.each([["responses"], ["chat"]] as const)("sends tool calls over %s", async (api) => {
    await using server = await modelServer([{ answer: { calls: [{ name: "search", arguments: { query: "x" } }] } }]);
    const tool = { name: "search", parameters: z.toJSONSchema(z.strictObject({ query: z.string() })), strict: true };
    const client = clientOf(server.url);
    const made =
      api === "responses"
        ? (
            await client.responses
              .stream({ ...responses, tools: [{ type: "function", ...tool }] } as never, who)
              .finalResponse()
          ).output.find(({ type }) => type === "function_call")
        : (
            await client.chat.completions
              .stream({ ...chat, tools: [{ type: "function", function: tool }] } as never, who)
              .finalChatCompletion()
          ).choices[0]?.message.tool_calls?.[0];
    expect(JSON.stringify(made)).toContain('{\\"query\\":\\"x\\"}');
  });
});
