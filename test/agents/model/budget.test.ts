import { createModels } from "@nova/agents";
import { NovaError } from "@nova/engine";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { Tool } from "../../../packages/agents/src/model/models.ts";
import { failureOf, modelCall } from "../../support/model-server/model-call.ts";
import { type ModelAction, modelServer, retriedAtOnce } from "../../support/model-server/model-server.ts";

const search: Tool = {
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

describe.each(["responses", "chat"] as const)("a budget over %s", (NOVA_LLM_API) => {
  it("is checked before every request, with the call's costs so far", async () => {
    await using server = await modelServer([{ answer: asks }, { answer: asks }, { answer: code }]);
    const beforeRequest = vi.fn();
    await createModels({ ...server.environment, NOVA_LLM_API }).ask(modelCall({ tools: [search], beforeRequest }));
    expect(beforeRequest.mock.calls).toEqual([
      [expect.any(Number), 0, { input: 0, cached: 0, output: 0 }],
      [expect.any(Number), 0.0011, { input: 1000, cached: 0, output: 20 }],
      [expect.any(Number), 0.0022, { input: 2000, cached: 0, output: 40 }],
    ]);
  });

  it("that is too small for the first request prevents it", async () => {
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

  it("that runs out between requests ends the call with its own error", async () => {
    await using server = await modelServer([{ answer: asks }]);
    const beforeRequest = (_estimated: number, spentUsd: number) => {
      if (spentUsd > 0) {
        throw new NovaError("BudgetExceeded", `$${spentUsd} are spent`);
      }
    };
    const error = await failureOf({ ...server.environment, NOVA_LLM_API }, { tools: [search], beforeRequest });
    expect(error).toEqual(new NovaError("BudgetExceeded", "$0.0011 are spent"));
  });
});

describe("the estimate of a request", () => {
  const estimates = async (changes: Parameters<typeof modelCall>[0], answers: ModelAction[] = [code]) => {
    await using server = await modelServer(answers.map((answer) => ({ answer })));
    const beforeRequest = vi.fn<(estimatedUsd: number) => void>();
    await createModels(server.environment).ask(modelCall({ ...changes, beforeRequest }));
    return beforeRequest.mock.calls.map(([estimatedUsd]) => estimatedUsd);
  };

  it("includes a full answer", async () => {
    const [small = 0] = await estimates({ maxOutputTokens: 1000 });
    const [large = 0] = await estimates({ maxOutputTokens: 2000 });
    expect(large - small).toBeCloseTo(1000 * 5e-6, 9);
  });

  it("includes the whole prompt", async () => {
    const [short = 0] = await estimates({});
    const [long = 0] = await estimates({ input: "x".repeat(3000) });
    expect(long - short).toBeGreaterThan(900 * 1e-6);
  });

  it("grows with the conversation", async () => {
    const [first = 0, second = 0] = await estimates({ tools: [search] }, [asks, code]);
    expect(second).toBeGreaterThan(first);
  });

  it("is made once for a request that is retried", async () => {
    expect(await estimates({}, [retriedAtOnce(429), code])).toHaveLength(1);
  });

  it("is above the actual cost", async () => {
    const [estimate = 0] = await estimates({ input: "Sum the totals of all invoices. ".repeat(100) });
    // Seven tokens per sentence, and an answer of 8,000 tokens.
    expect(estimate).toBeGreaterThan(700 * 1e-6 + 8000 * 5e-6);
  });

  it("is 0 for a model of a compatible server", async () => {
    expect(await estimates({ model: "qwen3:8b" })).toEqual([0]);
  });
});
