import { costOf, createModels } from "@nova/agents";
import { describe, expect, it } from "vitest";
import {
  type Counted,
  embeddingUsd,
  estimateEmbeddingUsd,
  estimateUsd,
  readUsage,
} from "../../../packages/agents/src/model/cost.ts";
import { Spending } from "../../../packages/agents/src/model/hold-conversation.ts";
import { modelCall } from "../../support/model-server/model-call.ts";
import { chatAnswer, rawServer, responsesAnswer } from "../../support/model-server/raw-server.ts";

const million = 1_000_000;

describe("the cost of tokens", () => {
  it.each([
    ["new input", { input: million, cached: 0, output: 0 }, 1],
    ["input that comes from the cache", { input: million, cached: million, output: 0 }, 0.05],
    ["half new and half cached input", { input: million, cached: million / 2, output: 0 }, 0.525],
    ["input that is written to the cache", { input: million, cached: 0, cacheWrite: million, output: 0 }, 1.25],
    ["output", { input: 0, cached: 0, output: million }, 5],
    ["no tokens", { input: 0, cached: 0, output: 0 }, 0],
  ])("includes, for gpt-6.1-terra, the price of %s", (_what, usage, usd) => {
    expect(costOf("gpt-6.1-terra", usage)).toBe(usd);
  });

  it("is exact to a billionth of a dollar", () => {
    expect(costOf("gpt-6-luna", { input: 3, cached: 1, output: 7 })).toBe(0.00000371);
  });

  it("is 0 for a model of a server other than OpenAI's", () => {
    expect(costOf("qwen3:8b", { input: million, cached: 0, output: million })).toBe(0);
  });

  it("is never negative if a server reports more cached tokens than input tokens", () => {
    expect(costOf("gpt-6.1-terra", { input: 10, cached: million, output: 0 })).toBe(0.05);
  });
});

describe("the spending of a call of a model", () => {
  it("sums tokens and dollars of its requests without rounding errors", () => {
    const spending = new Spending("gpt-6-luna");
    spending.add({ input: 1000, cached: 0, cacheWrite: 0, output: 100 });
    spending.add({ input: 2000, cached: 1000, cacheWrite: 0, output: 100 });
    expect(spending.soFar()).toMatchObject({ usage: { input: 3000, cached: 1000, output: 200 }, costUsd: 0.00031 });
  });

  it("includes the price of cache writes, although the sum of tokens does not list them", () => {
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
  ])("for the model %s and a million tokens is %d dollars", (model, usd) => {
    expect(embeddingUsd(model, million)).toBe(usd);
  });

  it("is estimated at one token for each three bytes, which is above the real number of tokens", () => {
    const texts = ["x".repeat(1500), "y".repeat(1499)];
    expect(estimateEmbeddingUsd("text-embedding-3-large", texts)).toBe(embeddingUsd("text-embedding-3-large", 1000));
  });
});

describe("the cost estimate of a request to a model", () => {
  it("assumes the longest allowed answer, and uncached input with one token for each three bytes", () => {
    expect(estimateUsd("gpt-6.1-terra", 3000, 1000)).toBe(1000 * 1.25e-6 + 1000 * 5e-6);
  });

  it.each(["plain English text about invoices", "Größe, Straße, 数据分析, контекст"])(
    "is above the number of tokens that providers count for the text %j",
    (text) => {
      const usd = estimateUsd("gpt-6.1-terra", Buffer.byteLength(text), 0);
      expect(usd).toBeGreaterThan(
        costOf("gpt-6.1-terra", { input: text.split(/\s+/).length * 2, cached: 0, output: 0 }),
      );
    },
  );
});

const exchanged = { sentBytes: 3_000, receivedBytes: 600, isAnswered: true, maxOutputTokens: 1_000 };
const honest: Counted = { input: 800, cached: 100, cacheWrite: 0, output: 150 };

describe("the token usage of a request to a model", () => {
  it.each<[string, Partial<Counted>]>([
    ["as many tokens as bytes", { input: 3_000 }],
    ["few tokens of input and a chat template around them", { input: 3_000 + 8_000 }],
    ["tokens of thoughts that are not in the answer", { output: 1_000 }],
    ["input that comes from the cache", { cached: 800 }],
    ["no number of cached tokens", { cached: undefined, cacheWrite: null }],
  ])("equals the numbers that the provider reports: %s", (_what, counts) => {
    const counted = { ...honest, ...counts };
    expect(readUsage(counted, exchanged)).toEqual({
      ...counted,
      cached: counted.cached ?? 0,
      cacheWrite: counted.cacheWrite ?? 0,
      isEstimated: false,
    });
  });

  const absurd = [1e20, Number.POSITIVE_INFINITY, -1, -1_000_000, 0.5, Number.NaN, "x", "10", true, [], {}, 1e9];

  it.each(absurd)("is estimated from the sent bytes if the provider reports %j input tokens", (input) => {
    expect(readUsage({ ...honest, input }, exchanged)).toEqual({ ...honest, input: 1_000, isEstimated: true });
  });

  it.each(absurd)("is estimated from the received bytes if the provider reports %j output tokens", (output) => {
    expect(readUsage({ ...honest, output }, exchanged)).toEqual({ ...honest, output: 200, isEstimated: true });
  });

  it.each(absurd)("has no cached tokens if the provider reports %j of them", (cached) => {
    expect(readUsage({ ...honest, cached }, exchanged)).toEqual({ ...honest, cached: 0, isEstimated: true });
  });

  it.each([undefined, null, 0])("is estimated from the bytes if the provider reports %j for all numbers", (none) => {
    const usage = readUsage({ input: none, cached: none, cacheWrite: none, output: none }, exchanged);
    expect(usage).toEqual({ input: 1_000, cached: 0, cacheWrite: 0, output: 200, isEstimated: true });
  });

  it("contains no cached tokens if the provider reports more cached tokens than input tokens", () => {
    expect(readUsage({ ...honest, cached: 801 }, exchanged)).toMatchObject({ cached: 0, isEstimated: true });
    expect(readUsage({ ...honest, cacheWrite: 701 }, exchanged)).toMatchObject({ cacheWrite: 0, isEstimated: true });
  });

  it("is never estimated above the limit of output tokens", () => {
    expect(readUsage({ ...honest, output: null }, { ...exchanged, receivedBytes: 1e7 }).output).toBe(1_000);
  });
});

describe.each([
  [
    "chat",
    chatAnswer,
    { prompt_tokens: 1e20, completion_tokens: -1_000_000, prompt_tokens_details: { cached_tokens: 1e9 } },
  ],
  [
    "responses",
    responsesAnswer,
    { input_tokens: 1e20, output_tokens: "x", input_tokens_details: { cached_tokens: 1e9 } },
  ],
] as const)("a call of a model over the API %s", (NOVA_LLM_API, answer, usage) => {
  it("has an estimated cost, and is marked as estimated, if the provider reports an impossible number of tokens", async () => {
    await using server = await rawServer(answer('{"code": "x"}', undefined, usage));
    const { costUsd, isEstimated, ...told } = await createModels({ ...server.environment, NOVA_LLM_API }).ask(
      modelCall(),
    );
    expect(isEstimated).toBe(true);
    expect(costUsd).toBeGreaterThan(0);
    expect(costUsd).toBeLessThan(0.01);
    expect(told.usage.input).toBe(Math.ceil(Buffer.byteLength(server.bodies[0] ?? "") / 3));
    expect(told.usage.cached).toBe(0);
  });

  it("has a finite number of tokens if the provider reports one that is too large for JavaScript", async () => {
    const text = JSON.stringify(answer('{"code": "x"}', undefined, usage)).replaceAll("100000000000000000000", "1e400");
    await using server = await rawServer(text);
    const { usage: read } = await createModels({ ...server.environment, NOVA_LLM_API }).ask(modelCall());
    expect(Number.isSafeInteger(read.input)).toBe(true);
  });
});
