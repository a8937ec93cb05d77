import { describe, expect, it } from "vitest";
import { embedTask } from "../../../packages/agents/src/agents/recall.ts";
import { ModelError } from "../../../packages/agents/src/model/model-error.ts";
import type { EmbeddingCall } from "../../../packages/agents/src/model/models.ts";

const { signal } = new AbortController();

function answering(...vectors: number[][]) {
  const usage = { input: 7, cached: 0, output: 0 };
  return async (_call: EmbeddingCall) => ({ vectors, model: "m", usage, costUsd: 0.5 });
}

describe("a task's embedding", () => {
  it("is rounded for storage with the code, and has its cost", async () => {
    const embedded = await embedTask("Add", answering([0.123456, -0.99996, 0]), { signal });
    expect(embedded).toEqual({ embedding: [0.1235, -1, 0], model: "m", tokens: 7, usd: 0.5 });
  });

  it("covers the start of a long text", async () => {
    let length = 0;
    const embed = async (call: EmbeddingCall) => {
      length = call.texts[0]?.length ?? 0;
      return answering([1])(call);
    };
    await embedTask("x".repeat(50_000), embed, { signal });
    expect(length).toBe(8_000);
  });

  it("is null without a model", async () => {
    expect(await embedTask("Add", () => null, { signal })).toBeNull();
  });

  it("has a cost even if the server returns no vector", async () => {
    expect(await embedTask("Add", answering(), { signal })).toMatchObject({ embedding: null, tokens: 7, usd: 0.5 });
  });

  it("that fails has an error and a cost instead of a vector", async () => {
    const spent = { usage: { input: 7, cached: 0, output: 0 }, costUsd: 0.5 };
    const embed = async () => Promise.reject(new ModelError("invalid", "sent 0 vectors", spent));
    const expected = { embedding: null, tokens: 7, usd: 0.5, error: "sent 0 vectors" };
    expect(await embedTask("Add", embed, { signal })).toEqual(expected);
  });

  it("throws the error of a refused budget", async () => {
    const embed = async () => Promise.reject(new TypeError("too dear"));
    await expect(embedTask("Add", embed, { signal })).rejects.toThrow("too dear");
  });
});
