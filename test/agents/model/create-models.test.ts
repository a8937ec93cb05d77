import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createModels } from "@nova/agents";
import { describe, expect, it } from "vitest";
import type { ModelEnvironment } from "../../../packages/agents/src/model/create-models.ts";
import type { EmbeddingCall } from "../../../packages/agents/src/model/models.ts";
import { failureOf, modelCall } from "../../support/model-server/model-call.ts";
import { modelServer, retriedAtOnce } from "../../support/model-server/model-server.ts";

describe("models that are configured by environment variables", () => {
  it.each<[string, ModelEnvironment]>([
    ["without variables", {}],
    ["with empty variables", { OPENAI_API_KEY: "", OPENAI_BASE_URL: " " }],
    ["with only the name of an API", { NOVA_LLM_API: "chat" }],
  ])("%s can be created, and name the missing environment variables at the first call", async (_what, environment) => {
    expect(await failureOf(environment)).toMatchObject({
      reason: "unauthorized",
      message:
        "no model can be called: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own, where nodes run (in the terminal of `nova dev`, if that is open), or run only locked code with `nova run --frozen`",
      spent: { costUsd: 0 },
    });
  });

  it("without OPENAI_API_KEY name the missing environment variables when an embedding is requested", async () => {
    await expect(
      createModels({ NOVA_EMBEDDING_MODEL: "m" }).embed({ texts: ["x"], signal: new AbortController().signal }),
    ).rejects.toMatchObject({
      reason: "unauthorized",
    });
  });

  it.each<[ModelEnvironment, string]>([
    [{ NOVA_LLM_API: "completions" }, 'models cannot be called: NOVA_LLM_API is neither "responses" nor "chat"'],
    [
      { OPENAI_BASE_URL: "localhost:11434" },
      "models cannot be called: OPENAI_BASE_URL is no URL - write it like http://127.0.0.1:11434/v1",
    ],
    [{ OPENAI_BASE_URL: "file:///etc/passwd" }, "OPENAI_BASE_URL is no URL"],
  ])("are refused for the invalid values %j", (environment, message) => {
    expect(() => createModels(environment)).toThrow(message);
  });

  it("are created from a whole process.env, which also has variables that NOVA does not know", () => {
    expect(() => createModels({ ...process.env, NOVA_LLM_API: "" })).not.toThrow();
  });

  it.each([
    ["the Responses API by default", undefined, "responses"],
    ["the Responses API", "responses", "responses"],
    ["Chat Completions", "chat", "chat"],
  ] as const)("send requests over %s", async (_what, NOVA_LLM_API, api) => {
    await using server = await modelServer([{ expect: { api }, answer: { json: { code: "" } } }]);
    await createModels({ ...server.environment, NOVA_LLM_API }).ask(modelCall());
  });

  it("do not log prompts, even if the log level of OpenAI's SDK is set", async () => {
    await using server = await modelServer([{ answer: { json: { code: "" } } }]);
    process.env.OPENAI_LOG = "debug";
    const written: unknown[] = [];
    const { debug, info } = console;
    Object.assign(console, {
      debug: (line: unknown) => written.push(line),
      info: (line: unknown) => written.push(line),
    });
    try {
      await createModels(server.environment).ask(modelCall());
    } finally {
      Object.assign(console, { debug, info });
      delete process.env.OPENAI_LOG;
    }
    expect(written).toEqual([]);
  });

  it.each([
    ["responses", "text/html", "<html>Welcome</html>"],
    ["chat", "text/html", "<html>Welcome</html>"],
    ["responses", "application/json", '{"status": "ok"}'],
    ["chat", "application/json", '{"status": "ok"}'],
    ["responses", "application/json", "{"],
    ["chat", "application/json", "null"],
  ])(
    "name the variable to correct if a server without the %s API answers with %s %s",
    async (NOVA_LLM_API, type, body) => {
      const server = createServer((_request, response) => {
        response.writeHead(200, { "content-type": type }).end(body);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const error = await failureOf({ OPENAI_BASE_URL: `http://127.0.0.1:${port}`, NOVA_LLM_API });
      server.close();
      expect(error).toMatchObject({
        reason: "unavailable",
        message: expect.stringMatching(/what it sent is no answer of this API.*; see OPENAI_BASE_URL where nodes run /),
      });
    },
  );
});

const NOVA_EMBEDDING_MODEL = "text-embedding-3-small";

function call(...texts: string[]): EmbeddingCall {
  return { texts, signal: new AbortController().signal };
}

describe("the embeddings of texts", () => {
  it("are null if no embedding model is set", () => {
    expect(createModels({ OPENAI_API_KEY: "k" }).embed(call("a"))).toBeNull();
    expect(createModels({ OPENAI_API_KEY: "k", NOVA_EMBEDDING_MODEL: " " }).embed(call("a"))).toBeNull();
  });

  it("are one vector for each text, in the order of the texts", async () => {
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

  it("need no request for an empty list of texts", async () => {
    await using server = await modelServer([]);
    expect(await createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed(call())).toMatchObject({
      vectors: [],
      costUsd: 0,
    });
  });

  it("are requested again after a temporary failure", async () => {
    await using server = await modelServer([{ answer: retriedAtOnce(500) }, { answer: { vectors: [[1]] } }]);
    expect(await createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed(call("a"))).toMatchObject({
      vectors: [[1]],
    });
  });

  it.each([
    [{ status: 404, code: "model_not_found" }, "unknown_model"],
    [{ status: 401 }, "unauthorized"],
    [{ status: 400 }, "invalid"],
  ])("fail with a reason that fits the provider's error: %j", async (answer, reason) => {
    await using server = await modelServer([{ answer }]);
    const vectors = createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed(call("a"));
    await expect(vectors).rejects.toMatchObject({ name: "ModelError", reason });
  });

  it("fail if the provider returns fewer vectors than texts", async () => {
    await using server = await modelServer([{ answer: { vectors: [[1]] } }]);
    const vectors = createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed(call("a", "b"));
    await expect(vectors).rejects.toMatchObject({
      reason: "invalid",
      message: expect.stringContaining("sent 1 vectors for 2 texts"),
      spent: { usage: { input: 10 }, costUsd: 0.0000002 },
    });
  });

  it("are not requested if the check of the cost budget refuses the request", async () => {
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

  it("end with an error as soon as the caller's signal aborts", async () => {
    await using server = await modelServer([]);
    const ended = { ...call("a"), signal: AbortSignal.abort(new Error("time is over")) };
    const embedded = createModels({ ...server.environment, NOVA_EMBEDDING_MODEL }).embed(ended);
    await expect(embedded).rejects.toThrow("time is over");
  });
});
