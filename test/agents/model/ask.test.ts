import { createModels } from "@nova/agents";
import { describe, expect, it } from "vitest";
import type { ModelEnvironment } from "../../../packages/agents/src/model/create-models.ts";
import { modelCall } from "../../support/model-server/model-call.ts";
import { modelServer } from "../../support/model-server/model-server.ts";

const usage = { input: 1200, cached: 1000, output: 50 };

describe.each(["responses", "chat"] as const)("a model asked over %s", (api) => {
  const over = (environment: ModelEnvironment) => createModels({ ...environment, NOVA_LLM_API: api });

  it("returns a value of the schema, the raw text and the cost", async () => {
    await using server = await modelServer([
      { expect: { role: "code_generator", api, model: "gpt-6.1-terra" }, answer: { json: { code: "x = 1" }, usage } },
    ]);
    const answer = await over(server.environment).ask(modelCall());
    expect(answer).toEqual({
      value: { code: "x = 1" },
      text: '{"code":"x = 1"}',
      toolCalls: [],
      isEstimated: false,
      usage,
      costUsd: 0.0005,
    });
  });

  it("costs 0 if the catalog has no price", async () => {
    await using server = await modelServer([{ expect: { model: "qwen3:8b" }, answer: { json: { code: "" } } }]);
    const answer = await over(server.environment).ask(modelCall({ model: "qwen3:8b" }));
    expect(answer).toMatchObject({ costUsd: 0, usage: { input: 1000, cached: 0, output: 100 } });
  });

  it("receives the instructions before the input", async () => {
    await using server = await modelServer([{ answer: { json: { code: "" } } }]);
    await over(server.environment).ask(modelCall());
    const text = JSON.stringify(server.requests[0]?.body);
    expect(server.requests[0]).toMatchObject({ input: "Add the totals.", tools: [], answer: "task_code" });
    expect(text.indexOf("You write Python.")).toBeLessThan(text.indexOf("Add the totals."));
    expect(server.requests[0]?.instructions).toMatch(/^You write Python\./);
  });

  it.each([
    ["in prose", 'Here it is: {"code": "x"}'],
    ["in a code fence", '```json\n{"code": "x"}\n```'],
    ["after its thoughts", '<think>{"code": "?"}</think>{"code": "x"}'],
  ])("is understood if it answers %s", async (_where, text) => {
    await using server = await modelServer([{ answer: { text } }]);
    expect(await over(server.environment).ask(modelCall())).toMatchObject({ value: { code: "x" }, text });
  });

  it("returns the right answer to each of several parallel calls", async () => {
    await using server = await modelServer(({ input }) => ({ json: { code: input } }));
    const models = over(server.environment);
    const asked = ["one", "two", "three"].map((input) => models.ask(modelCall({ input })));
    expect((await Promise.all(asked)).map(({ value }) => value.code)).toEqual(["one", "two", "three"]);
  });
});

describe("a request over the Responses API", () => {
  it("has exactly the needed fields, and asks the provider to store nothing", async () => {
    await using server = await modelServer([{ answer: { json: { code: "" } } }]);
    await createModels(server.environment).ask(modelCall({ maxOutputTokens: 500 }));
    expect(server.requests[0]?.body).toEqual({
      model: "gpt-6.1-terra",
      instructions: "You write Python.",
      input: [{ role: "user", content: "Add the totals." }],
      text: {
        format: {
          type: "json_schema",
          name: "task_code",
          strict: true,
          schema: expect.objectContaining({
            type: "object",
            properties: { code: { type: "string" } },
            required: ["code"],
            additionalProperties: false,
          }),
        },
      },
      max_output_tokens: 500,
      store: false,
      prompt_cache_key: expect.stringMatching(/^nova-[0-9a-f]{32}$/),
    });
  });

  it("has the same cache key for the same instructions, and another for others", async () => {
    await using server = await modelServer(() => ({ json: { code: "" } }));
    const models = createModels(server.environment);
    await models.ask(modelCall({ input: "a" }));
    await models.ask(modelCall({ input: "b" }));
    await models.ask(modelCall({ instructions: "You judge." }));
    const [a, b, other] = server.requests.map(({ body }) => (body as { prompt_cache_key: string }).prompt_cache_key);
    expect(a).toBe(b);
    expect(other).not.toBe(a);
  });

  it("has a unique request id with the role", async () => {
    await using server = await modelServer(() => ({ json: { code: "" } }));
    const models = createModels(server.environment);
    await models.ask(modelCall());
    await models.ask(modelCall({ role: "data_analyzer" }));
    const ids = server.requests.map(({ headers }) => headers["x-client-request-id"]);
    expect(ids).toEqual([
      expect.stringMatching(/^code_generator\.[0-9a-f-]{36}$/),
      expect.stringMatching(/^data_analyzer\.[0-9a-f-]{36}$/),
    ]);
  });

  it("has the key of the environment", async () => {
    await using server = await modelServer([{ answer: { json: { code: "" } } }]);
    await createModels({ ...server.environment, OPENAI_API_KEY: "sk-mine" }).ask(modelCall());
    expect(server.requests[0]?.headers.authorization).toBe("Bearer sk-mine");
  });

  it("needs no key for a compatible server", async () => {
    await using server = await modelServer([{ answer: { json: { code: "" } } }]);
    await createModels({ OPENAI_BASE_URL: server.url }).ask(modelCall());
    expect(server.requests).toHaveLength(1);
  });
});
