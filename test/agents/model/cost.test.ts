import { costOf } from "@nova/agents";
import { describe, expect, it } from "vitest";
import { embeddingUsd, estimateEmbeddingUsd, estimateUsd } from "../../../packages/agents/src/model/cost.ts";
import { Spending } from "../../../packages/agents/src/model/hold-conversation.ts";

const million = 1_000_000;

describe("the cost of tokens", () => {
  it.each([
    ["input", { input: million, cached: 0, output: 0 }, 1],
    ["input that was cached", { input: million, cached: million, output: 0 }, 0.05],
    ["half of each", { input: million, cached: million / 2, output: 0 }, 0.525],
    ["input that was written to the cache", { input: million, cached: 0, cacheWrite: million, output: 0 }, 1.25],
    ["output", { input: 0, cached: 0, output: million }, 5],
    ["nothing", { input: 0, cached: 0, output: 0 }, 0],
  ])("includes %s of gpt-6.1-terra at its price", (_what, usage, usd) => {
    expect(costOf("gpt-6.1-terra", usage)).toBe(usd);
  });

  it("is exact to a billionth of a dollar", () => {
    expect(costOf("gpt-6-luna", { input: 3, cached: 1, output: 7 })).toBe(0.00000371);
  });

  it("is 0 for a model of a compatible server", () => {
    expect(costOf("qwen3:8b", { input: million, cached: 0, output: million })).toBe(0);
  });

  it("is never negative if a server counts more cached tokens than input", () => {
    expect(costOf("gpt-6.1-terra", { input: 10, cached: million, output: 0 })).toBe(0.05);
  });
});

describe("the spending of a call", () => {
  it("sums tokens and dollars of its requests without the noise of binary fractions", () => {
    const spending = new Spending("gpt-6-luna");
    spending.add({ input: 1000, cached: 0, cacheWrite: 0, output: 100 });
    spending.add({ input: 2000, cached: 1000, cacheWrite: 0, output: 100 });
    expect(spending.soFar()).toMatchObject({ usage: { input: 3000, cached: 1000, output: 200 }, costUsd: 0.00031 });
  });

  it("includes cache writes, which the sum of tokens does not show", () => {
    const spending = new Spending("gpt-6.1-terra");
    spending.add({ input: million, cached: 0, cacheWrite: million, output: 0 });
    expect(spending.soFar()).toMatchObject({ usage: { input: million, cached: 0, output: 0 }, costUsd: 1.25 });
  });
});

describe("the cost of an embedding", () => {
  it.each([
    ["text-embedding-3-small", 0.02],
    ["text-embedding-3-large", 0.13],
    ["one's own model", 0],
  ])("of %s for a million tokens is %d", (model, usd) => {
    expect(embeddingUsd(model, million)).toBe(usd);
  });

  it("is estimated from three bytes per token, above the counted tokens", () => {
    const texts = ["x".repeat(1500), "y".repeat(1499)];
    expect(estimateEmbeddingUsd("text-embedding-3-large", texts)).toBe(embeddingUsd("text-embedding-3-large", 1000));
  });
});

describe("the estimate of a request", () => {
  it("assumes a full answer and uncached input of three bytes per token", () => {
    expect(estimateUsd("gpt-6.1-terra", 3000, 1000)).toBe(1000 * 1.25e-6 + 1000 * 5e-6);
  });

  it.each(["plain English text about invoices", "Größe, Straße, 数据分析, контекст"])(
    "is above the count of providers for %j",
    (text) => {
      const usd = estimateUsd("gpt-6.1-terra", Buffer.byteLength(text), 0);
      expect(usd).toBeGreaterThan(
        costOf("gpt-6.1-terra", { input: text.split(/\s+/).length * 2, cached: 0, output: 0 }),
      );
    },
  );
});
