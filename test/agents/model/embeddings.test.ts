import { createModels } from "@nova/agents";
import { describe, expect, it } from "vitest";
import type { EmbeddingCall } from "../../../packages/agents/src/model/models.ts";
import { modelServer, retriedAtOnce } from "../../support/model-server/model-server.ts";

const NOVA_EMBEDDING_MODEL = "text-embedding-3-small";

function call(...texts: string[]): EmbeddingCall {
  return { texts, signal: new AbortController().signal };
}

describe("embeddings", () => {
  it("are null without a model", () => {
    expect(createModels({ OPENAI_API_KEY: "k" }).embed(call("a"))).toBeNull();
    expect(createModels({ OPENAI_API_KEY: "k", NOVA_EMBEDDING_MODEL: " " }).embed(call("a"))).toBeNull();
  });

  it("are one vector per text, in the order of the texts", async () => {
    await using server = await modelServer([
      {
        expect: { api: "embeddings", model: NOVA_EMBEDDING_MODEL, says: ["first\nsecond"] },
        answer: {
          vectors: [
            [1, 0.5],
            [0, -1],
          ],
        },
      },
    ]);
    const embedded = createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed(call("first", "second"));
    expect(await embedded).toEqual({
      vectors: [
        [1, 0.5],
        [0, -1],
      ],
      model: NOVA_EMBEDDING_MODEL,
      usage: { input: 10, cached: 0, output: 0 },
      costUsd: 0.0000002,
    });
  });

  it("of no texts need no request", async () => {
    await using server = await modelServer([]);
    expect(await createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed(call())).toMatchObject({
      vectors: [],
      costUsd: 0,
    });
  });

  it("are retried like any request", async () => {
    await using server = await modelServer([{ answer: retriedAtOnce(500) }, { answer: { vectors: [[1]] } }]);
    expect(await createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed(call("a"))).toMatchObject({
      vectors: [[1]],
    });
  });

  it.each([
    [{ status: 404, code: "model_not_found" }, "unknown_model"],
    [{ status: 401 }, "unauthorized"],
    [{ status: 400 }, "invalid"],
  ])("fail with their reason: %j", async (answer, reason) => {
    await using server = await modelServer([{ answer }]);
    const vectors = createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed(call("a"));
    await expect(vectors).rejects.toMatchObject({ name: "ModelError", reason });
  });

  it("fail if vectors are missing", async () => {
    await using server = await modelServer([{ answer: { vectors: [[1]] } }]);
    const vectors = createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed(call("a", "b"));
    await expect(vectors).rejects.toMatchObject({
      reason: "invalid",
      message: expect.stringContaining("sent 1 vectors for 2 texts"),
      spent: { usage: { input: 10 }, costUsd: 0.0000002 },
    });
  });

  it("check the budget first, and send no request if it refuses", async () => {
    await using server = await modelServer([]);
    const estimates: number[] = [];
    const embedded = createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed({
      ...call("x".repeat(300)),
      beforeRequest: async (estimatedUsd) => {
        estimates.push(estimatedUsd);
        throw new Error("too dear");
      },
    });
    await expect(embedded).rejects.toThrow("too dear");
    expect(estimates).toEqual([0.000002]);
  });

  it("end with the caller's signal", async () => {
    await using server = await modelServer([]);
    const ended = { ...call("a"), signal: AbortSignal.abort(new Error("time is over")) };
    const embedded = createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed(ended);
    await expect(embedded).rejects.toThrow("time is over");
  });
});
