import { createModels } from "@nova/agents";
import { describe, expect, it } from "vitest";
import { modelServer, retriedAtOnce } from "../../support/model-server/model-server.ts";

const NOVA_EMBEDDING_MODEL = "text-embedding-3-small";

describe("embeddings", () => {
  it("are null where no model is set", () => {
    expect(createModels({ OPENAI_API_KEY: "k" }).embed(["a"])).toBeNull();
    expect(createModels({ OPENAI_API_KEY: "k", NOVA_EMBEDDING_MODEL: " " }).embed(["a"])).toBeNull();
  });

  it("are a vector per text, in the order of the texts", async () => {
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
    const vectors = createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed(["first", "second"]);
    expect(await vectors).toEqual([
      [1, 0.5],
      [0, -1],
    ]);
  });

  it("of nothing ask nobody", async () => {
    await using server = await modelServer([]);
    expect(await createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed([])).toEqual([]);
  });

  it("are tried again like any request", async () => {
    await using server = await modelServer([{ answer: retriedAtOnce(500) }, { answer: { vectors: [[1]] } }]);
    expect(await createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed(["a"])).toEqual([[1]]);
  });

  it.each([
    [{ status: 404, code: "model_not_found" }, "unknown_model"],
    [{ status: 401 }, "unauthorized"],
    [{ status: 400 }, "invalid"],
  ])("fail with their reason: %j", async (answer, reason) => {
    await using server = await modelServer([{ answer }]);
    const vectors = createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed(["a"]);
    await expect(vectors).rejects.toMatchObject({ name: "ModelError", reason });
  });

  it("fail where fewer come than were asked for", async () => {
    await using server = await modelServer([{ answer: { vectors: [[1]] } }]);
    const vectors = createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed(["a", "b"]);
    await expect(vectors).rejects.toMatchObject({
      reason: "invalid",
      message: expect.stringContaining("sent 1 vectors for 2 texts"),
    });
  });
});
