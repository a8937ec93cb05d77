import { describe, expect, it } from "vitest";
import { ModelError, type ModelErrorReason } from "../../../packages/agents/src/model/model-error.ts";
import { failureOf } from "../../support/model-server/model-call.ts";
import { type ModelAction, modelServer } from "../../support/model-server/model-server.ts";

const usage = { input: 400, cached: 0, output: 100 };
const never = { headers: { "x-should-retry": "false" } };

interface Case {
  what: string;
  answer: ModelAction;
  reason: ModelErrorReason;
  message: RegExp;
}

/** Answers that NOVA cannot use, although the provider charges for them. */
const answered: Case[] = [
  {
    what: "a refusal",
    answer: { refusal: "I can't help with that.", usage },
    reason: "refused",
    message:
      /^the answer of model "gpt-6\.1-terra" to the code_generator is a refusal \(I can't help with that\.\) - say the task/,
  },
  {
    what: "an answer that a filter stopped",
    answer: { filtered: '{"code": "', usage },
    reason: "refused",
    message: /is a refusal \(the provider's content filter stopped it\)/,
  },
  {
    what: "an answer that was cut off",
    answer: { cutOff: '{"code": "impor', usage },
    reason: "cut_off",
    message: /was cut off at 8000 tokens - split the task into smaller nodes$/,
  },
  {
    what: "an answer that was cut off after complete JSON",
    answer: { cutOff: '{"code": "x"}', usage },
    reason: "cut_off",
    message: /was cut off/,
  },
  {
    what: "an answer of another schema",
    answer: { json: { program: "x" }, usage },
    reason: "invalid",
    message:
      /does not follow its schema: Invalid input: expected string, received undefined at code - .*name another model$/,
  },
  {
    what: "an answer without JSON",
    answer: { text: "I would write a loop.", usage },
    reason: "invalid",
    message: /there is no JSON object in it/,
  },
];

/** Errors that the provider returns instead of an answer. They cost nothing. */
const refused: Case[] = [
  {
    what: "an API key that is not valid",
    answer: { status: 401, message: "Incorrect API key provided: sk-12***89" },
    reason: "unauthorized",
    message:
      /^127\.0\.0\.1:\d+ does not accept the key \(401\) - set OPENAI_API_KEY to one of its keys where nodes run \(in the terminal of `nova dev`, if that is open\)$/,
  },
  {
    what: "an API key without rights",
    answer: { status: 403 },
    reason: "unauthorized",
    message: /the key may not use model "gpt-6\.1-terra" .* - name another model, or use a key that may$/,
  },
  {
    what: "a model that the provider does not know",
    answer: { status: 404, code: "model_not_found" },
    reason: "unknown_model",
    message: /does not know model "gpt-6\.1-terra" of the code_generator - name one that it serves/,
  },
  {
    what: "a model that Ollama does not know",
    answer: { status: 404, message: 'model "gpt-6.1-terra" not found, try pulling it first' },
    reason: "unknown_model",
    message: /DEFAULT_MODEL$/,
  },
  {
    what: "an API that does not exist",
    answer: { status: 404, message: "404 page not found" },
    reason: "unavailable",
    message: /it has no such API \(404\); see OPENAI_BASE_URL where nodes run .*, or set NOVA_LLM_API=chat there$/,
  },
  {
    what: "a quota that is used up",
    answer: { status: 429, code: "insufficient_quota", ...never },
    reason: "unavailable",
    message: /the account's quota is spent/,
  },
  {
    what: "a prompt that is too long",
    answer: { status: 400, code: "context_length_exceeded" },
    reason: "invalid",
    message: /the prompt of the code_generator is too long .* - shorten the task/,
  },
  {
    what: "a prompt against the provider's policy",
    answer: { status: 400, code: "invalid_prompt", message: "flagged" },
    reason: "refused",
    message: /refused the prompt of the code_generator \(400 flagged\) - say the task in other words$/,
  },
  {
    what: "a wrong request",
    answer: { status: 400, message: "Unknown parameter: 'x'." },
    reason: "invalid",
    message: /refused the request of the code_generator as wrong: 400 Unknown parameter: 'x'\.$/,
  },
  {
    what: "a lasting error",
    answer: { status: 500, message: "boom", ...never },
    reason: "unavailable",
    message: /model "gpt-6\.1-terra" at 127\.0\.0\.1:\d+ gave no answer: it failed, after retries \(500 boom\)$/,
  },
  {
    what: "a lasting limit",
    answer: { status: 429, ...never },
    reason: "unavailable",
    message: /its rate limit is reached \(429\)/,
  },
];

describe.each(["responses", "chat"] as const)("over the %s API,", (NOVA_LLM_API) => {
  it.each(answered)(
    "$what causes an error with a reason and the cost of the answer",
    async ({ answer, reason, message }) => {
      await using server = await modelServer([{ answer }]);
      const error = await failureOf({ ...server.environment, NOVA_LLM_API });
      expect(error).toBeInstanceOf(ModelError);
      expect(error).toMatchObject({ name: "ModelError", reason, message: expect.stringMatching(message) });
      expect(error).toMatchObject({ spent: { usage: { input: 400, cached: 0, output: 100 }, costUsd: 0.0009 } });
    },
  );

  it.each(refused)(
    "$what, reported by the provider, causes an error with a reason and no cost",
    async ({ answer, reason, message }) => {
      await using server = await modelServer([{ answer }]);
      const error = await failureOf({ ...server.environment, NOVA_LLM_API });
      expect(error).toMatchObject({ reason, message: expect.stringMatching(message), spent: { costUsd: 0, text: "" } });
    },
  );

  it("an answer that ends at its token limit counts as cut off, even if the server calls it complete", async () => {
    await using server = await modelServer([{ answer: { json: { code: "x" }, usage: { output: 50 } } }]);
    const error = await failureOf({ ...server.environment, NOVA_LLM_API }, { maxOutputTokens: 50 });
    const message = expect.stringMatching(/was cut off at 50 tokens - raise max_tokens, or split the task/);
    expect(error).toMatchObject({ reason: "cut_off", message });
  });

  it("the error for an unusable answer keeps the text of the answer, so that NOVA can record this text", async () => {
    await using server = await modelServer([{ answer: { text: "I would write a loop." } }]);
    expect(await failureOf({ ...server.environment, NOVA_LLM_API })).toMatchObject({
      spent: { text: "I would write a loop." },
    });
  });

  it("an error message never repeats an API key that the provider quotes", async () => {
    await using server = await modelServer([{ answer: { status: 401, message: "Incorrect API key: sk-secret" } }]);
    const error = await failureOf({ ...server.environment, NOVA_LLM_API });
    expect((error as Error).message).not.toContain("sk-secret");
  });

  it("an error message has a shortened form of a long message of the provider", async () => {
    await using server = await modelServer([{ answer: { status: 400, message: `<html>\n${"x".repeat(5000)}` } }]);
    const error = await failureOf({ ...server.environment, NOVA_LLM_API });
    expect((error as Error).message.length).toBeLessThan(500);
  });
});

describe("a response with status 200 that contains an error", () => {
  it.each<[string, ModelErrorReason, RegExp]>([
    ["server_error", "unavailable", /gave no answer: the engine stopped$/],
    ["invalid_prompt", "refused", /\(the engine stopped\) - say the task in other words/],
  ])("with the code %s is reported with the reason %s", async (code, reason, message) => {
    await using server = await modelServer([{ answer: { failed: { code, message: "the engine stopped" } } }]);
    expect(await failureOf(server.environment)).toMatchObject({ reason, message: expect.stringMatching(message) });
  });
});

describe("a provider that repeats the API key in its message", () => {
  it.each([400, 401, 404, 500])("with the status %i causes an error message without the key", async (status) => {
    const key = "sk-proj-repeated/0123456789";
    const said = `Incorrect API key provided: ${key} (also ${encodeURIComponent(key)}, ${JSON.stringify({ key })})`;
    await using server = await modelServer(() => ({ status, message: said, ...never }));
    const before = process.env.OPENAI_API_KEY;
    process.env.OPENAI_API_KEY = key;
    try {
      const { message } = (await failureOf({ ...server.environment, OPENAI_API_KEY: key })) as Error;
      expect(message).not.toMatch(/repeated|0123456789/);
    } finally {
      if (before === undefined) delete process.env.OPENAI_API_KEY;
      else process.env.OPENAI_API_KEY = before;
    }
  });
});
