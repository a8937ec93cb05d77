import { createModels, createPipeline } from "@nova/agents";
import type { PipelineOutcome, PromptTask } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { MemoryGenerations } from "../support/memory-generations.ts";
import { type Exchange, modelServer } from "../support/model-server/model-server.ts";
import { fails, NodeMeans, type NodeMeansOptions, sets } from "../support/pipeline/node-means.ts";
import { promptTask } from "../support/pipeline/prompt-task.ts";

const packages = ["pymupdf", "pandas", "requests", "pillow", "psycopg[binary]"];
const clock = { now: () => Date.parse("2026-11-22T06:00:00Z") };

interface Setting {
  script: Exchange[];
  runs?: NodeMeansOptions["runs"];
  task?: PromptTask;
  api?: "responses" | "chat";
  generations?: MemoryGenerations;
  embedder?: string;
}

/** Runs a node with the whole pipeline: models over HTTP, checks, guides and documentation. */
async function run({ script, runs = [], task = promptTask(), api = "responses", generations, embedder }: Setting) {
  await using server = await modelServer(script);
  const environment = { ...server.environment, NOVA_LLM_API: api, NOVA_EMBEDDING_MODEL: embedder };
  const models = createModels(environment);
  const pipeline = createPipeline({ models, generations: generations ?? new MemoryGenerations(), packages, clock });
  const means = new NodeMeans({ runs, isDecision: task.node.type === "decision" });
  const pinned = await pipeline.pinned(task);
  const outcome: PipelineOutcome = await pipeline.run(task, means.delivery(), pinned);
  means.finish();
  return { outcome, means, requests: server.requests };
}

const simple: Exchange = {
  expect: { role: "input_analyzer" },
  answer: { json: { needs_analysis: false, complexity: "simple" } },
};
const writes = (code: string, says: string[] = []): Exchange => ({
  expect: { role: "code_generator", says },
  answer: { json: { code } },
});
const approves: Exchange = {
  expect: { role: "output_validator" },
  answer: { json: { valid: true, reason: "the discount is 10 % of the total" } },
};
const good = 'context["discount"] = context["total"] * 0.1';

describe.each(["responses", "chat"] as const)("over the %s API", (api) => {
  it("the code of a simple prompt is written, run and judged, and is used again by the next run", async () => {
    const generations = new MemoryGenerations();
    const first = await run({
      script: [simple, writes(good), approves],
      runs: [sets({ discount: 150 })],
      api,
      generations,
    });
    expect(first.outcome).toMatchObject({ status: "success", code: good, cacheHit: false });
    expect(first.means.steps[1]).toMatchObject({ tokens_input: 1000, tokens_output: 100 });
    expect(first.means.steps[1]?.cost_usd).toBeGreaterThan(0);
    const second = await run({ script: [], runs: [sets({ discount: 150 })], api, generations });
    expect(second.outcome).toMatchObject({ status: "success", code: good, cacheHit: true });
    expect(second.outcome.generation).toBe(first.outcome.generation);
  });

  it("an analysis runs before code is written if the data needs an analysis", async () => {
    const analysis = 'result = {"pages": 2}';
    const { outcome, means } = await run({
      script: [
        { ...simple, answer: { json: { needs_analysis: true, complexity: "complex" } } },
        { expect: { role: "data_analyzer" }, answer: { json: { code: analysis } } },
        writes(good, ['"analysis": {"pages": 2}']),
        approves,
      ],
      runs: [sets({ _data_analysis: { result: { pages: 2 } } }), sets({ discount: 1 })],
      api,
    });
    expect(outcome.status).toBe("success");
    expect(means.steps[1]).toMatchObject({ agent_name: "DataAnalyzer", generated_code: analysis });
  });

  it("the third attempt succeeds if a check refuses the first code and a model refuses the second code", async () => {
    const { outcome, means } = await run({
      script: [
        simple,
        writes("send_email(email_user)"),
        writes('context["discount"] = context["totl"] * 0.1', ["email_user"]),
        writes(good, ["email_user", "totl"]),
        approves,
      ],
      runs: [sets({ discount: 150 })],
      api,
    });
    expect(outcome.status).toBe("success");
    const rejected = means.steps.filter(
      ({ agent_name, status }) => agent_name === "CodeValidator" && status === "failed",
    );
    expect(rejected.map(({ error_message }) => error_message)).toEqual([
      expect.stringContaining('"send_email" is not defined'),
      expect.stringContaining("total"),
    ]);
  });

  it("the code generator searches the documentation, and each search is recorded", async () => {
    const search = { name: "search_documentation", arguments: { library: "fitz", query: "extract text of a page" } };
    const { means } = await run({
      script: [
        simple,
        { expect: { role: "code_generator", mayCall: true }, answer: { calls: [search] } },
        writes(good, ["get_text"]),
        approves,
      ],
      runs: [sets({ discount: 1 })],
      api,
    });
    expect(means.steps[1]?.tool_calls).toMatchObject([
      { function: "search_documentation", arguments: search.arguments },
    ]);
  });

  it.each<[string, Exchange["answer"], RegExp]>([
    ["a refusal of the model", { refusal: "I cannot help with that" }, /refusal \(I cannot help with that\)/],
    ["a content filter", { filtered: "" }, /content filter/],
  ])("%s fails the node with its reason", async (_, answer, message) => {
    const { outcome } = await run({ script: [simple, { expect: { role: "code_generator" }, answer }], api });
    expect(outcome).toMatchObject({ class: "NodeFailed", message: expect.stringMatching(message) });
  });

  it("an answer that was cut off uses up an attempt", async () => {
    const cut: Exchange = { expect: { role: "code_generator" }, answer: { cutOff: '{"code": "context[' } };
    const { outcome } = await run({
      script: [simple, cut, writes(good, ["cut off"]), approves],
      runs: [sets({ discount: 1 })],
      api,
    });
    expect(outcome.status).toBe("success");
  });

  it("a wrong API key ends the node with ModelUnavailable", async () => {
    const denied: Exchange = { answer: { status: 401, code: "invalid_api_key" } };
    const { outcome } = await run({ script: [denied], api });
    expect(outcome).toMatchObject({ class: "ModelUnavailable", code: null });
  });

  it("the cost limit ends the node before a call of a model that could exceed the limit", async () => {
    const task = promptTask({ executor: { maxCostUsd: 0.000001 } });
    const { outcome } = await run({ script: [], task, api });
    expect(outcome).toMatchObject({ class: "BudgetExceeded", message: expect.stringContaining("has spent $0.00 of") });
  });
});

describe("a decision whose code a model writes", () => {
  it("gets its code from a prompt with the values of its edges, and gets new code if its decision fits no edge", async () => {
    const task = promptTask({ type: "decision", conditions: ["high", "low"], prompt: "Is the total above 1000?" });
    const { outcome } = await run({
      task,
      script: [
        simple,
        writes('context["branch_decision"] = "yes"', ['"edges": ["high", "low"]']),
        writes('context["branch_decision"] = "high" if context["total"] > 1000 else "low"', ['\\"yes\\"']),
        approves,
      ],
      runs: [
        fails('no edge for branch_decision "yes" - the conditions are "high", "low"'),
        sets({ branch_decision: "high" }),
      ],
    });
    expect(outcome.status).toBe("success");
  });
});

describe("pinned code of a node", () => {
  it("is replaced if the code itself causes a failure and new code succeeds", async () => {
    const generations = new MemoryGenerations();
    await run({ script: [simple, writes(good), approves], runs: [sets({ discount: 150 })], generations });
    const better = 'context["discount"] = float(context["total"]) * 0.1';
    const { outcome } = await run({
      script: [simple, writes(better, ["TypeError", '"attempt": 0']), approves],
      runs: [fails("TypeError: can't multiply sequence by non-int of type 'float'"), sets({ discount: 150 })],
      generations,
    });
    expect(outcome).toMatchObject({ status: "success", code: better, cacheHit: false });
    expect(generations.all.map(({ code, status }) => [code, status])).toEqual([
      [good, "replaced"],
      [better, "pinned"],
    ]);
  });

  it("is the only code that runs in a frozen run", async () => {
    const generations = new MemoryGenerations();
    await run({ script: [simple, writes(good), approves], runs: [sets({ discount: 150 })], generations });
    const task = promptTask({ frozen: true });
    const hit = await run({ script: [], task, runs: [sets({ discount: 150 })], generations });
    expect(hit.outcome).toMatchObject({ status: "success", cacheHit: true });
    const other = await run({ script: [], task: promptTask({ frozen: true, prompt: "Something else" }), generations });
    expect(other.outcome).toMatchObject({ class: "NodeFailed", message: expect.stringContaining("nova lock") });
  });
});

describe("if an embedding model is set,", () => {
  const embeds: Exchange = {
    expect: { api: "embeddings", model: "text-embedding-3-small" },
    answer: { vectors: [[0.6, 0.8]] },
  };

  it("the code generator receives the code of the most similar earlier node, and every embedding has a cost", async () => {
    const generations = new MemoryGenerations();
    const common = { generations, embedder: "text-embedding-3-small" };
    const first = await run({ ...common, script: [simple, embeds, writes(good), approves], runs: [sets({ a: 1 })] });
    const task = promptTask({ prompt: "Take off a tenth" });
    const second = await run({
      ...common,
      task,
      runs: [sets({ a: 1 })],
      script: [simple, embeds, writes("context['a'] = context['total'] / 10", [good.slice(0, 7)]), approves],
    });
    const costs = [first, second].map(({ means }) => means.steps[1]?.cost_usd);
    const without = await run({ script: [simple, writes(good), approves], runs: [sets({ a: 1 })] });
    expect(first.means.steps[1]).toMatchObject({ tokens_input: 1010 });
    expect(costs[0]).toBeCloseTo((without.means.steps[1]?.cost_usd ?? 0) + 10 * 0.02e-6, 12);
    expect(generations.all.map(({ cost }) => cost.tokens_input)).toEqual([3010, 3010]);
  });
});
