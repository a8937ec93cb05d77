import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createModels } from "@nova/agents";
import { describe, expect, it } from "vitest";
import type { ModelEnvironment } from "../../../packages/agents/src/model/create-models.ts";
import { failureOf, modelCall } from "../../support/model-server/model-call.ts";
import { modelServer } from "../../support/model-server/model-server.ts";

describe("models", () => {
  it.each<[string, ModelEnvironment]>([
    ["an empty environment", {}],
    ["empty variables", { OPENAI_API_KEY: "", OPENAI_BASE_URL: " " }],
    ["an API alone", { NOVA_LLM_API: "chat" }],
  ])("of %s report the missing variables at the first call", async (_what, environment) => {
    expect(await failureOf(environment)).toMatchObject({
      reason: "unauthorized",
      message:
        "no model can be called: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own, where nodes run (in the terminal of `nova dev`, if that is open), or run only locked code with `nova run --frozen`",
      spent: { costUsd: 0 },
    });
  });

  it("also need access for embeddings", async () => {
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
  ])("of %j are refused immediately", (environment, message) => {
    expect(() => createModels(environment)).toThrow(message);
  });

  it("accept a whole process.env", () => {
    expect(() => createModels({ ...process.env, NOVA_LLM_API: "" })).not.toThrow();
  });

  it.each([
    ["the Responses API unless told otherwise", undefined, "responses"],
    ["the Responses API", "responses", "responses"],
    ["Chat Completions", "chat", "chat"],
  ] as const)("speak %s", async (_what, NOVA_LLM_API, api) => {
    await using server = await modelServer([{ expect: { api }, answer: { json: { code: "" } } }]);
    await createModels({ ...server.environment, NOVA_LLM_API }).ask(modelCall());
  });

  it("do not log prompts, even if the SDK's log level is set", async () => {
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
  ])("report a way out if over %s another service answers: %s %s", async (NOVA_LLM_API, type, body) => {
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
  });
});
