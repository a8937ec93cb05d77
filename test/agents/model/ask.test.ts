import { createModels } from "@nova/agents";
import { NovaError } from "@nova/engine";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { ModelEnvironment } from "../../../packages/agents/src/model/create-models.ts";
import type { Tool } from "../../../packages/agents/src/model/models.ts";
import { failureOf, modelCall } from "../../support/model-server/model-call.ts";
import {
  type Exchange,
  type ModelAction,
  modelServer,
  retriedAtOnce,
} from "../../support/model-server/model-server.ts";

const usage = { input: 1200, cached: 1000, output: 50 };

describe.each(["responses", "chat"] as const)("a model that is asked over the API %s", (api) => {
  const over = (environment: ModelEnvironment) => createModels({ ...environment, NOVA_LLM_API: api });

  it("returns a value that fits the schema, the raw text of its answer and the cost", async () => {
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

  it("costs 0 if the catalog of models has no price for it", async () => {
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
  ])("is understood if it answers with its JSON %s", async (_where, text) => {
    await using server = await modelServer([{ answer: { text } }]);
    expect(await over(server.environment).ask(modelCall())).toMatchObject({ value: { code: "x" }, text });
  });

  it("gets the right result for each of several parallel tool calls", async () => {
    await using server = await modelServer(({ input }) => ({ json: { code: input } }));
    const models = over(server.environment);
    const asked = ["one", "two", "three"].map((input) => models.ask(modelCall({ input })));
    expect((await Promise.all(asked)).map(({ value }) => value.code)).toEqual(["one", "two", "three"]);
  });
});

describe("a request over the Responses API", () => {
  it("has exactly the expected fields, and asks the provider to store nothing", async () => {
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

  it("has the same cache key for the same instructions, and another cache key for other instructions", async () => {
    await using server = await modelServer(() => ({ json: { code: "" } }));
    const models = createModels(server.environment);
    await models.ask(modelCall({ input: "a" }));
    await models.ask(modelCall({ input: "b" }));
    await models.ask(modelCall({ instructions: "You judge." }));
    const [a, b, other] = server.requests.map(({ body }) => (body as { prompt_cache_key: string }).prompt_cache_key);
    expect(a).toBe(b);
    expect(other).not.toBe(a);
  });

  it("has a unique request id that names the agent", async () => {
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

  it("has the API key of the environment variable", async () => {
    await using server = await modelServer([{ answer: { json: { code: "" } } }]);
    await createModels({ ...server.environment, OPENAI_API_KEY: "sk-mine" }).ask(modelCall());
    expect(server.requests[0]?.headers.authorization).toBe("Bearer sk-mine");
  });

  it("needs no API key for a server other than OpenAI's", async () => {
    await using server = await modelServer([{ answer: { json: { code: "" } } }]);
    await createModels({ OPENAI_BASE_URL: server.url }).ask(modelCall());
    expect(server.requests).toHaveLength(1);
  });
});

const anyTool: Tool = {
  name: "search",
  description: "Searches.",
  parameters: z.object({ query: z.string() }),
  run: async () => ({ text: "found", found: 1 }),
};
const asks: ModelAction = {
  calls: [{ name: "search", arguments: { query: "x" } }],
  usage: { input: 1000, cached: 0, output: 20 },
};
const code: ModelAction = { json: { code: "x" } };

describe.each(["responses", "chat"] as const)("the cost budget of a call over the API %s", (NOVA_LLM_API) => {
  it("is checked before every request, including the costs of the call's earlier requests", async () => {
    await using server = await modelServer([{ answer: asks }, { answer: asks }, { answer: code }]);
    const beforeRequest = vi.fn();
    await createModels({ ...server.environment, NOVA_LLM_API }).ask(modelCall({ tools: [anyTool], beforeRequest }));
    expect(beforeRequest.mock.calls).toEqual([
      [expect.any(Number), 0, { input: 0, cached: 0, output: 0 }],
      [expect.any(Number), 0.0011, { input: 1000, cached: 0, output: 20 }],
      [expect.any(Number), 0.0022, { input: 2000, cached: 0, output: 40 }],
    ]);
  });

  it("prevents the first request if the budget is too small", async () => {
    await using server = await modelServer([]);
    const spent = new NovaError("BudgetExceeded", 'node "sum" has spent $0.10 of $0.10');
    const error = await failureOf(
      { ...server.environment, NOVA_LLM_API },
      {
        beforeRequest: () => {
          throw spent;
        },
      },
    );
    expect(error).toBe(spent);
  });

  it("ends the call with an error if the budget is used up between two requests", async () => {
    await using server = await modelServer([{ answer: asks }]);
    const beforeRequest = (_estimated: number, spentUsd: number) => {
      if (spentUsd > 0) {
        throw new NovaError("BudgetExceeded", `$${spentUsd} are spent`);
      }
    };
    const error = await failureOf({ ...server.environment, NOVA_LLM_API }, { tools: [anyTool], beforeRequest });
    expect(error).toEqual(new NovaError("BudgetExceeded", "$0.0011 are spent"));
  });
});

describe("the cost estimate of a request to a model", () => {
  const estimates = async (changes: Parameters<typeof modelCall>[0], answers: ModelAction[] = [code]) => {
    await using server = await modelServer(answers.map((answer) => ({ answer })));
    const beforeRequest = vi.fn<(estimatedUsd: number) => void>();
    await createModels(server.environment).ask(modelCall({ ...changes, beforeRequest }));
    return beforeRequest.mock.calls.map(([estimatedUsd]) => estimatedUsd);
  };

  it("assumes an answer of the highest allowed length", async () => {
    const [small = 0] = await estimates({ maxOutputTokens: 1000 });
    const [large = 0] = await estimates({ maxOutputTokens: 2000 });
    expect(large - small).toBeCloseTo(1000 * 5e-6, 9);
  });

  it("includes the cost of the whole prompt", async () => {
    const [short = 0] = await estimates({});
    const [long = 0] = await estimates({ input: "x".repeat(3000) });
    expect(long - short).toBeGreaterThan(900 * 1e-6);
  });

  it("grows with the length of the conversation", async () => {
    const [first = 0, second = 0] = await estimates({ tools: [anyTool] }, [asks, code]);
    expect(second).toBeGreaterThan(first);
  });

  it("is made once for a request, even if the request is sent again after a failure", async () => {
    expect(await estimates({}, [retriedAtOnce(429), code])).toHaveLength(1);
  });

  it("is above the cost that the provider then reports", async () => {
    const [estimate = 0] = await estimates({ input: "Sum the totals of all invoices. ".repeat(100) });
    // The cost of an input of 100 sentences with seven tokens each, and of an answer of the highest allowed length
    // (8,000 tokens).
    expect(estimate).toBeGreaterThan(700 * 1e-6 + 8000 * 5e-6);
  });

  it("is 0 for a model of a server other than OpenAI's", async () => {
    expect(await estimates({ model: "qwen3:8b" })).toEqual([0]);
  });
});

const Query = z.object({ library: z.string(), query: z.string() });

const search: Tool<z.infer<typeof Query>> = {
  name: "search_documentation",
  description: "Finds what a library's documentation says.",
  parameters: Query,
  run: async ({ library, query }) => ({ text: `${library}.${query} exists`, found: 1 }),
};

const asksFor = (...queries: string[]): ModelAction => ({
  calls: queries.map((query) => ({ name: "search_documentation", arguments: { library: "fitz", query } })),
});

describe.each(["responses", "chat"] as const)("the tools that a model may call over the API %s", (api) => {
  const over = (environment: object) => createModels({ ...environment, NOVA_LLM_API: api });

  it("run before the model answers and are recorded, and the call includes the cost of their requests", async () => {
    await using server = await modelServer([
      { expect: { mayCall: true }, answer: { ...asksFor("open"), usage: { input: 100, cached: 0, output: 10 } } },
      { expect: { says: ["fitz.open exists"] }, answer: { ...code, usage: { input: 150, cached: 100, output: 20 } } },
    ]);
    const answer = await over(server.environment).ask(modelCall({ tools: [search] }));
    expect(answer).toMatchObject({
      value: { code: "x" },
      toolCalls: [{ function: "search_documentation", arguments: { library: "fitz", query: "open" }, found: 1 }],
      usage: { input: 250, cached: 100, output: 30 },
      costUsd: 0.000305,
    });
  });

  it("can be called in parallel, and their results are returned in order", async () => {
    await using server = await modelServer([{ answer: asksFor("a", "b") }, { answer: code }]);
    const { toolCalls } = await over(server.environment).ask(modelCall({ tools: [search] }));
    expect(toolCalls.map((call) => call.arguments.query)).toEqual(["a", "b"]);
    expect(server.requests[1]?.toolResults).toEqual(["fitz.a exists", "fitz.b exists"]);
  });

  it("are not offered to the model after the allowed number of calls", async () => {
    await using server = await modelServer([
      { expect: { mayCall: true }, answer: asksFor("a") },
      { expect: { mayCall: true }, answer: asksFor("b") },
      { expect: { mayCall: false }, answer: code },
    ]);
    const { toolCalls } = await over(server.environment).ask(modelCall({ tools: [search], maxToolCalls: 2 }));
    expect(toolCalls).toHaveLength(2);
  });

  it("do not run more often than allowed, even if the model calls many in parallel", async () => {
    await using server = await modelServer([
      { answer: asksFor("a", "b", "c") },
      { expect: { mayCall: false, says: ["No more calls: answer now."] }, answer: code },
    ]);
    const { toolCalls } = await over(server.environment).ask(modelCall({ tools: [search], maxToolCalls: 1 }));
    expect(toolCalls.map((call) => call.arguments.query)).toEqual(["a"]);
  });

  it.each<[string, ModelAction, string]>([
    [
      "a call of an unknown tool",
      { calls: [{ name: "shell", arguments: {} }] },
      'There is no tool "shell"; there are: search_documentation.',
    ],
    [
      "arguments that do not fit the schema",
      { calls: [{ name: search.name, arguments: { library: 1 } }] },
      "expected string, received number at library",
    ],
    [
      "arguments that are not JSON",
      { calls: [{ name: search.name, arguments: "{" }] },
      "there is no JSON object in it",
    ],
  ])("return a problem to the model after %s, and the model can continue", async (_what, wrong, said) => {
    await using server = await modelServer([{ answer: wrong }, { expect: { says: [said] }, answer: code }]);
    const { toolCalls } = await over(server.environment).ask(modelCall({ tools: [search] }));
    expect(toolCalls).toEqual([]);
  });

  it("cost no further request if the model does not call them", async () => {
    await using server = await modelServer([{ expect: { mayCall: true }, answer: code }]);
    expect(await over(server.environment).ask(modelCall({ tools: [search] }))).toMatchObject({ toolCalls: [] });
  });

  it("end the call with an error that contains its costs if the model calls them too often", async () => {
    const again: Exchange = { answer: asksFor("again") };
    await using server = await modelServer([again, again, again]);
    const error = await failureOf({ ...server.environment, NOVA_LLM_API: api }, { tools: [search], maxToolCalls: 1 });
    expect(error).toMatchObject({
      reason: "unclear",
      message: expect.stringContaining("went on calling tools after its 1 calls"),
      spent: {
        usage: { input: 3000, cached: 0, output: 300 },
        toolCalls: [{ function: "search_documentation" }],
      },
    });
  });

  it("end the call of the model when the model calls an unknown tool for the second time", async () => {
    const shell: Exchange = { answer: { calls: [{ name: "shell", arguments: {} }] } };
    await using server = await modelServer([shell, shell]);
    const error = await failureOf({ ...server.environment, NOVA_LLM_API: api }, { tools: [search] });
    expect(error).toMatchObject({
      reason: "unclear",
      message: expect.stringContaining("it calls tools that nobody offers"),
    });
  });

  it("make the call of the model fail with their own error if they throw", async () => {
    await using server = await modelServer([{ answer: asksFor("a") }]);
    const broken: Tool = { ...(search as Tool), run: () => Promise.reject(new Error("no index")) };
    const error = await failureOf({ ...server.environment, NOVA_LLM_API: api }, { tools: [broken] });
    expect(error).toEqual(new Error("no index"));
  });
});

describe("the thoughts of a model before a tool call", () => {
  const thoughts = (body: unknown) =>
    (body as { input: { type?: string }[] }).input.filter(({ type }) => type === "reasoning");

  it("are sent back to the model in encrypted form", async () => {
    await using server = await modelServer([{ answer: asksFor("a") }, { answer: code }]);
    await createModels(server.environment).ask(modelCall({ tools: [search] }));
    expect(server.requests[0]?.body).toMatchObject({ include: ["reasoning.encrypted_content"] });
    expect(thoughts(server.requests[1]?.body)).toEqual([expect.objectContaining({ encrypted_content: "sealed-1" })]);
  });

  it.each(["gpt-4.1", "qwen3:8b"])(
    "are not requested from %s, which would refuse a request for them",
    async (model) => {
      await using server = await modelServer([{ answer: asksFor("a") }, { answer: code }]);
      await createModels(server.environment).ask(modelCall({ tools: [search], model }));
      expect(server.requests[0]?.body).not.toHaveProperty("include");
      expect(thoughts(server.requests[1]?.body)).toEqual([]);
    },
  );
});
