import { createModels } from "@nova/agents";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { chatConversation, isStrict } from "../../../packages/agents/src/model/apis.ts";
import { windowOf } from "../../../packages/agents/src/model/catalog.ts";
import type { Tool } from "../../../packages/agents/src/model/models.ts";
import { modelCall } from "../../support/model-server/model-call.ts";
import { type ModelAction, modelServer } from "../../support/model-server/model-server.ts";

const search: Tool = {
  name: "search",
  description: "Searches.",
  parameters: z.object({ query: z.string() }),
  run: async () => ({ text: "found", found: 1 }),
};
const asks: ModelAction = { calls: [{ name: "search", arguments: { query: "x" } }] };
const environmentOf = (server: { environment: object }) => ({ ...server.environment, NOVA_LLM_API: "chat" });

describe("a server that is compatible with OpenAI's API", () => {
  it("receives the schema of the answer in the instructions, and no field that only OpenAI knows", async () => {
    await using server = await modelServer([{ answer: { json: { code: "" } } }]);
    await createModels(environmentOf(server)).ask(modelCall({ maxOutputTokens: 300 }));
    const body = server.requests[0]?.body as Record<string, unknown>;
    expect(Object.keys(body).sort()).toEqual(["max_tokens", "messages", "model", "response_format"]);
    expect(body.max_tokens).toBe(300);
    expect(server.requests[0]?.instructions).toMatch(
      /^You write Python\.\n\nAnswer with one JSON object that follows this schema:\n\{.*"required":\["code"\]/,
    );
  });

  it("receives no schema to enforce while the model may call tools, because a schema would prevent calls", async () => {
    await using server = await modelServer([
      { expect: { mayCall: true, answer: null }, answer: asks },
      { expect: { mayCall: false, answer: "task_code" }, answer: { json: { code: "x" } } },
    ]);
    await createModels(environmentOf(server)).ask(modelCall({ tools: [search], maxToolCalls: 1 }));
  });

  it("is asked again with an enforced schema after an answer that does not fit the schema", async () => {
    await using server = await modelServer([
      { expect: { mayCall: true, answer: null }, answer: { text: "I need no search. Here is the plan." } },
      {
        expect: { mayCall: false, answer: "task_code", says: ["Answer now, as JSON."] },
        answer: { json: { code: "x" } },
      },
    ]);
    const answer = await createModels(environmentOf(server)).ask(modelCall({ tools: [search] }));
    expect(answer).toMatchObject({ value: { code: "x" }, usage: { input: 2000, cached: 0, output: 200 } });
  });

  it("is not asked again after a fitting answer, although no schema was enforced", async () => {
    await using server = await modelServer([{ answer: { text: 'Done: {"code": "x"}' } }]);
    const answer = await createModels(environmentOf(server)).ask(modelCall({ tools: [search] }));
    expect(answer.value).toEqual({ code: "x" });
  });
});

describe("a conversation with OpenAI over Chat Completions", () => {
  const converse = (baseURL: string) =>
    chatConversation(new OpenAI({ apiKey: "k", baseURL }), modelCall({ tools: [search] }), false);

  it("enforces the schema even with tools, forbids storage, and sends a cache key of the instructions", async () => {
    const body = converse("http://127.0.0.1:9/v1").request(true);
    expect(body).toMatchObject({
      tool_choice: "auto",
      max_completion_tokens: 8000,
      store: false,
      prompt_cache_key: expect.stringMatching(/^nova-/),
      response_format: { type: "json_schema", json_schema: { name: "task_code", strict: true } },
    });
    expect(body).not.toHaveProperty("max_tokens");
    expect(body.messages[0]).toEqual({ role: "system", content: "You write Python." });
  });

  it("sends requests that follow the published rules of OpenAI's API", async () => {
    await using server = await modelServer([{ expect: { answer: "task_code" }, answer: { json: { code: "x" } } }]);
    const conversation = converse(server.url);
    const options = { signal: AbortSignal.any([]), headers: { "X-Client-Request-Id": "code_generator.1" } };
    expect(await conversation.send(conversation.request(true), options)).toMatchObject({ text: '{"code":"x"}' });
  });
});

const closed = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };

it.each([
  [closed, true],
  [{ ...closed, properties: { a: { type: "array", items: closed } } }, true],
  [{ ...closed, required: [] }, false],
  [{ ...closed, additionalProperties: true }, false],
  [{ type: "object" }, false],
  [{ ...closed, properties: { a: { type: "object", properties: {} } } }, false],
  [{ ...closed, $defs: { b: { type: "object", properties: {} } } }, false],
])("isStrict for the schema %j is %s", (schema, expected) => {
  expect(isStrict(schema)).toBe(expected);
});

it("windowOf returns the size of the context window of a model and of its snapshots, and null for an unknown model", () => {
  expect([windowOf("gpt-5-2025-08-07"), windowOf("llama")]).toEqual([400_000, null]);
});
