import { createModels } from "@nova/agents";
import { describe, expect, it } from "vitest";
import { type Counted, readUsage } from "../../../packages/agents/src/model/usage.ts";
import { modelCall } from "../../support/model-server/model-call.ts";
import { chatAnswer, rawServer, responsesAnswer } from "../../support/model-server/raw-server.ts";

const exchanged = { sentBytes: 3_000, receivedBytes: 600, isAnswered: true, maxOutputTokens: 1_000 };
const honest: Counted = { input: 800, cached: 100, cacheWrite: 0, output: 150 };

describe("the usage of a request", () => {
  it.each<[string, Partial<Counted>]>([
    ["as many tokens as bytes", { input: 3_000 }],
    ["a chat template around a short prompt", { input: 3_000 + 8_000 }],
    ["thoughts that are not shown", { output: 1_000 }],
    ["a prompt that comes from the cache", { cached: 800 }],
    ["no word about the cache", { cached: undefined, cacheWrite: null }],
  ])("equals the provider's counts: %s", (_what, counts) => {
    const counted = { ...honest, ...counts };
    expect(readUsage(counted, exchanged)).toEqual({
      ...counted,
      cached: counted.cached ?? 0,
      cacheWrite: counted.cacheWrite ?? 0,
      isEstimated: false,
    });
  });

  const absurd = [1e20, Number.POSITIVE_INFINITY, -1, -1_000_000, 0.5, Number.NaN, "x", "10", true, [], {}, 1e9];

  it.each(absurd)("is estimated from the sent bytes if input is %j", (input) => {
    expect(readUsage({ ...honest, input }, exchanged)).toEqual({ ...honest, input: 1_000, isEstimated: true });
  });

  it.each(absurd)("is estimated from the received bytes if output is %j", (output) => {
    expect(readUsage({ ...honest, output }, exchanged)).toEqual({ ...honest, output: 200, isEstimated: true });
  });

  it.each(absurd)("has no cached tokens if their count is %j", (cached) => {
    expect(readUsage({ ...honest, cached }, exchanged)).toEqual({ ...honest, cached: 0, isEstimated: true });
  });

  it.each([undefined, null, 0])("is estimated without counts: %j", (none) => {
    const usage = readUsage({ input: none, cached: none, cacheWrite: none, output: none }, exchanged);
    expect(usage).toEqual({ input: 1_000, cached: 0, cacheWrite: 0, output: 200, isEstimated: true });
  });

  it("never has more cached tokens than input", () => {
    expect(readUsage({ ...honest, cached: 801 }, exchanged)).toMatchObject({ cached: 0, isEstimated: true });
    expect(readUsage({ ...honest, cacheWrite: 701 }, exchanged)).toMatchObject({ cacheWrite: 0, isEstimated: true });
  });

  it("is never estimated above the output limit", () => {
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
] as const)("a call over %s", (NOVA_LLM_API, answer, usage) => {
  it("is estimated from sent and received bytes, and marked as an estimate", async () => {
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

  it("handles a huge count", async () => {
    const text = JSON.stringify(answer('{"code": "x"}', undefined, usage)).replaceAll("100000000000000000000", "1e400");
    await using server = await rawServer(text);
    const { usage: read } = await createModels({ ...server.environment, NOVA_LLM_API }).ask(modelCall());
    expect(Number.isSafeInteger(read.input)).toBe(true);
  });
});
