import { createModels } from "@nova/agents";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Tool } from "../../../packages/agents/src/model/models.ts";
import { failureOf, modelCall } from "../../support/model-server/model-call.ts";
import { type Exchange, type ModelAction, modelServer } from "../../support/model-server/model-server.ts";

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
const code: ModelAction = { json: { code: "x" } };

describe.each(["responses", "chat"] as const)("tools over %s", (api) => {
  const over = (environment: object) => createModels({ ...environment, NOVA_LLM_API: api });

  it("run before the answer, are recorded, and are part of its cost", async () => {
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

  it("can be called in parallel, and are answered in order", async () => {
    await using server = await modelServer([{ answer: asksFor("a", "b") }, { answer: code }]);
    const { toolCalls } = await over(server.environment).ask(modelCall({ tools: [search] }));
    expect(toolCalls.map((call) => call.arguments.query)).toEqual(["a", "b"]);
    expect(server.requests[1]?.toolResults).toEqual(["fitz.a exists", "fitz.b exists"]);
  });

  it("are no longer offered after their budget is spent", async () => {
    await using server = await modelServer([
      { expect: { mayCall: true }, answer: asksFor("a") },
      { expect: { mayCall: true }, answer: asksFor("b") },
      { expect: { mayCall: false }, answer: code },
    ]);
    const { toolCalls } = await over(server.environment).ask(modelCall({ tools: [search], maxToolCalls: 2 }));
    expect(toolCalls).toHaveLength(2);
  });

  it("do not run beyond their budget, even if many are called in parallel", async () => {
    await using server = await modelServer([
      { answer: asksFor("a", "b", "c") },
      { expect: { mayCall: false, says: ["No more calls: answer now."] }, answer: code },
    ]);
    const { toolCalls } = await over(server.environment).ask(modelCall({ tools: [search], maxToolCalls: 1 }));
    expect(toolCalls.map((call) => call.arguments.query)).toEqual(["a"]);
  });

  it.each<[string, ModelAction, string]>([
    [
      "a tool that is none",
      { calls: [{ name: "shell", arguments: {} }] },
      'There is no tool "shell"; there are: search_documentation.',
    ],
    [
      "arguments of another shape",
      { calls: [{ name: search.name, arguments: { library: 1 } }] },
      "expected string, received number at library",
    ],
    ["arguments that are no JSON", { calls: [{ name: search.name, arguments: "{" }] }, "there is no JSON object in it"],
  ])("answer %s with the problem, and the model continues", async (_what, wrong, said) => {
    await using server = await modelServer([{ answer: wrong }, { expect: { says: [said] }, answer: code }]);
    const { toolCalls } = await over(server.environment).ask(modelCall({ tools: [search] }));
    expect(toolCalls).toEqual([]);
  });

  it("that are never called need one request", async () => {
    await using server = await modelServer([{ expect: { mayCall: true }, answer: code }]);
    expect(await over(server.environment).ask(modelCall({ tools: [search] }))).toMatchObject({ toolCalls: [] });
  });

  it("that are called endlessly end the call with its costs", async () => {
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

  it("that are not offered end the call at the second call", async () => {
    const shell: Exchange = { answer: { calls: [{ name: "shell", arguments: {} }] } };
    await using server = await modelServer([shell, shell]);
    const error = await failureOf({ ...server.environment, NOVA_LLM_API: api }, { tools: [search] });
    expect(error).toMatchObject({
      reason: "unclear",
      message: expect.stringContaining("it calls tools that nobody offers"),
    });
  });

  it("that throw fail the call with their own error", async () => {
    await using server = await modelServer([{ answer: asksFor("a") }]);
    const broken: Tool = { ...(search as Tool), run: () => Promise.reject(new Error("no index")) };
    const error = await failureOf({ ...server.environment, NOVA_LLM_API: api }, { tools: [broken] });
    expect(error).toEqual(new Error("no index"));
  });
});

describe("the thoughts of a model before a tool call", () => {
  const thoughts = (body: unknown) =>
    (body as { input: { type?: string }[] }).input.filter(({ type }) => type === "reasoning");

  it("are sent back encrypted", async () => {
    await using server = await modelServer([{ answer: asksFor("a") }, { answer: code }]);
    await createModels(server.environment).ask(modelCall({ tools: [search] }));
    expect(server.requests[0]?.body).toMatchObject({ include: ["reasoning.encrypted_content"] });
    expect(thoughts(server.requests[1]?.body)).toEqual([expect.objectContaining({ encrypted_content: "sealed-1" })]);
  });

  it.each(["gpt-4.1", "qwen3:8b"])("are not requested from %s, which would refuse", async (model) => {
    await using server = await modelServer([{ answer: asksFor("a") }, { answer: code }]);
    await createModels(server.environment).ask(modelCall({ tools: [search], model }));
    expect(server.requests[0]?.body).not.toHaveProperty("include");
    expect(thoughts(server.requests[1]?.body)).toEqual([]);
  });
});
