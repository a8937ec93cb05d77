import { describe, expect, it } from "vitest";
import { embedTask } from "../../../packages/agents/src/agents/recall.ts";
import { ModelError } from "../../../packages/agents/src/model/model-error.ts";
import type { EmbeddingCall } from "../../../packages/agents/src/model/models.ts";
import { sets } from "../../support/pipeline/node-means.ts";
import { pipelineParts } from "../../support/pipeline/parts.ts";
import { deliver, play, type Scene } from "../../support/pipeline/play.ts";

const simple = { role: "input_analyzer", answer: { needs_analysis: false, complexity: "simple" } } as const;
const good = 'context["discount"] = context["total"] * 0.1';
const writes = (code: string) => ({ role: "code_generator", answer: { code } }) as const;
const approves = { role: "output_validator", answer: { valid: true, reason: "done" } } as const;
const { knowledge } = pipelineParts();

/** Parts of a pipeline whose search for earlier examples always finds the example about a rebate. */
const precedent = {
  knowledge: {
    ...knowledge,
    earlierExamples: async () => [{ task: "Calculate a rebate", code: 'context["rebate"] = 1' }],
  },
};

const scene: Scene = {
  vectors: [{ vector: [1, 0.5], costUsd: 0.0002 }],
  lines: [simple, writes(good), approves],
  runs: [sets({ discount: 150 })],
  parts: precedent,
};

describe("the embedding of a node's prompt", () => {
  it("adds its cost to the step of the code generator and to the node", async () => {
    const { means, kept } = await play(scene);
    const [, generator] = means.steps;
    expect(generator).toMatchObject({ model_used: "gpt-6-luna", tokens_input: 912, cost_usd: 0.0012 });
    expect(generator?.input_data).toMatchObject({
      examples: ["Calculate a rebate"],
      embedding: { model: "embedder", tokens_input: 12, cost_usd: 0.0002 },
    });
    expect(kept[0]?.cost).toMatchObject({ usd: expect.closeTo(0.0032, 9), tokens_input: 2712 });
  });

  it("is stored with the code of the node, so that nodes with similar prompts find this code", async () => {
    expect((await play(scene)).kept).toMatchObject([{ code: good, embedding: [1, 0.5] }]);
  });

  it("is requested once for a node, even if code is written several times", async () => {
    const look = writes('# STAGE: ANALYSIS\nresult = {"total": 1}');
    const { means, models } = await play({
      ...scene,
      lines: [simple, look, writes(good), approves],
      runs: [{ status: "success", set: [], delete: [], logs: "" }, sets({ discount: 150 })],
      parts: precedent,
    });
    const written = means.steps.filter(({ agent_name }) => agent_name === "CodeGenerator");
    expect(written.map(({ cost_usd }) => cost_usd)).toEqual([0.0012, 0.001]);
    expect(models.asked[2]?.input).toContain("Calculate a rebate");
  });

  it("is not requested by a second delivery if the first delivery recorded it", async () => {
    const { means } = await play({ ...scene, lines: [simple, writes(good)], dieAt: 2 });
    means.dieAt = Number.POSITIVE_INFINITY;
    const { kept } = await deliver({ ...scene, vectors: [], lines: [approves], runs: [] }, means);
    expect(kept).toMatchObject([{ code: good, cost: { tokens_input: 2712 } }]);
  });

  it("does not fail the node if its request fails, and the step then records the reason and the cost", async () => {
    const { outcome, means } = await play({ ...scene, vectors: [{ fails: "sent no vectors", costUsd: 0.0002 }] });
    expect(outcome.status).toBe("success");
    expect(means.steps[1]).toMatchObject({ cost_usd: 0.0012, input_data: { embedding: { error: "sent no vectors" } } });
  });
});

describe("a cost limit", () => {
  it("prevents the request for an embedding that could exceed the limit", async () => {
    const { outcome, means } = await play({
      ...scene,
      vectors: [{ costUsd: 0, estimatedUsd: 0.02 }],
      lines: [simple],
      runs: [],
      task: { executor: { maxCostUsd: 0.01 } },
    });
    expect(outcome).toMatchObject({ status: "failed", class: "BudgetExceeded" });
    expect(outcome).toMatchObject({ message: expect.stringContaining("has spent $0.001 of $0.01") });
    expect(means.story()).toEqual(["InputAnalyzer 1", "CodeGenerator 1 failed"]);
  });

  it.each([
    ["the node's", { task: { executor: { maxCostUsd: 0.01 } } }, /node "work" has spent \$0.009 of/],
    ["the run's", { task: { workflow: { maxCostUsd: 0.01 } } }, /this run has spent \$0.009 of/],
    ["the client's", { means: { month: { spentUsd: 0.001, limitUsd: 0.01 } } }, /client "acme" has spent \$0.009 of/],
  ])(
    "prevents the request of the code generator if the cost of the embedding leaves too little: %s limit",
    async (_whose, limited, message) => {
      const dear = { ...writes(good), estimatedUsd: 0.002 };
      const vectors = [{ vector: [1], costUsd: 0.008 }];
      const { outcome, means } = await play({ ...scene, ...limited, vectors, lines: [simple, dear], runs: [] });
      expect(outcome).toMatchObject({
        status: "failed",
        class: "BudgetExceeded",
        message: expect.stringMatching(message),
      });
      expect(means.steps[1]).toMatchObject({ cost_usd: 0.008, tokens_input: 12 });
    },
  );
});

const { signal } = new AbortController();

function answering(...vectors: number[][]) {
  const usage = { input: 7, cached: 0, output: 0 };
  return async (_call: EmbeddingCall) => ({ vectors, model: "m", usage, costUsd: 0.5 });
}

describe("the embedding of a text", () => {
  it("is rounded to four digits, and its cost is returned", async () => {
    const embedded = await embedTask("Add", answering([0.123456, -0.99996, 0]), { signal });
    expect(embedded).toEqual({ embedding: [0.1235, -1, 0], model: "m", tokens: 7, usd: 0.5 });
  });

  it("covers only the first 8,000 characters of a long text", async () => {
    let length = 0;
    const embed = async (call: EmbeddingCall) => {
      length = call.texts[0]?.length ?? 0;
      return answering([1])(call);
    };
    await embedTask("x".repeat(50_000), embed, { signal });
    expect(length).toBe(8_000);
  });

  it("is null without an embedding model", async () => {
    expect(await embedTask("Add", () => null, { signal })).toBeNull();
  });

  it("has a cost even if the server returns no vector", async () => {
    expect(await embedTask("Add", answering(), { signal })).toMatchObject({ embedding: null, tokens: 7, usd: 0.5 });
  });

  it("is an error with a cost if its request fails", async () => {
    const spent = { usage: { input: 7, cached: 0, output: 0 }, costUsd: 0.5 };
    const embed = async () => Promise.reject(new ModelError("invalid", "sent 0 vectors", spent));
    const expected = { embedding: null, tokens: 7, usd: 0.5, error: "sent 0 vectors" };
    expect(await embedTask("Add", embed, { signal })).toEqual(expected);
  });

  it("fails with the original error if the error does not come from the model", async () => {
    const embed = async () => Promise.reject(new TypeError("too dear"));
    await expect(embedTask("Add", embed, { signal })).rejects.toThrow("too dear");
  });
});
