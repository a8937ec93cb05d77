import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { dataSection, quoteForPrompt, stageOf, withoutFence } from "../../../packages/agents/src/prompts/prompt.ts";
import { Placeholder } from "../../../packages/agents/src/schema/summary.ts";
import { hostile } from "../../support/pipeline/hostile.ts";
import { sets } from "../../support/pipeline/node-means.ts";
import { play } from "../../support/pipeline/play.ts";

describe("quoteForPrompt", () => {
  it.each(hostile)("escapes %j so that it cannot end its line or look like markup", (text) => {
    const written = quoteForPrompt({ [text]: [text] });
    expect(JSON.parse(written)).toEqual({ [text]: [text] });
    expect(written).not.toMatch(/[<>`\r\n\u0085\u2028\u2029\u202e\u200b\ufeff]|\[\/?INST\]/u);
  });

  it("returns JSON that parses to the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const written = quoteForPrompt(value);
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(written).not.toMatch(/[<>`\n]/);
      }),
    );
  });

  it("writes placeholders without escapes, but escapes texts that only look like placeholders", () => {
    expect(quoteForPrompt([new Placeholder("string: 9 chars"), "<string: 9 chars>"])).toBe(
      '["<string: 9 chars>", "\\u003cstring: 9 chars\\u003e"]',
    );
  });
});

describe("dataSection", () => {
  it("returns one JSON object between <data> tags, with one member per line and without undefined members", () => {
    expect(dataSection({ task: "a", context: { b: 1 }, none: undefined })).toBe(
      '<data>\n{"task": "a",\n"context": {"b": 1}}\n</data>',
    );
  });
});

describe("withoutFence", () => {
  it.each([
    ["a = 1\n", "a = 1\n"],
    ["```python\na = 1\n```", "a = 1"],
    ["\n```py\r\na = 1\r\n```\n", "a = 1"],
    ["```\na = 1\nb = 2\n```", "a = 1\nb = 2"],
    ['text = """\n```\n"""', 'text = """\n```\n"""'],
    ["Here it is:\n```python\na = 1\n```", "Here it is:\n```python\na = 1\n```"],
  ])("returns the code without markdown for %j", (text, code) => {
    expect(withoutFence(text)).toBe(code);
  });
});

describe("stageOf", () => {
  it.each([
    ["# STAGE: ANALYSIS\nresult = {}", "analysis"],
    ["import json\n  # stage: analysis", "analysis"],
    ["# STAGE: TASK\na = 1", "task"],
    ["# STAGE: TASK\n# after # STAGE: ANALYSIS", "task"],
    ["a = 1", "task"],
    ['a = "# STAGE: ANALYSIS"', "task"],
    ["# STAGE: ANALYSIST", "task"],
  ])("returns the stage that a comment of the code %j names, or else `task`", (code, stage) => {
    expect(stageOf(code)).toBe(stage);
  });
});

const maxTokens = 1_500;
/**
 * This number is below the real one, so that the test never counts too few tokens. English and Python have about four
 * characters per token.
 */
const charactersPerToken = 3.5;

const context = {
  client_name: "Acme Corp",
  invoice_number: "2026-0417",
  email_subject: "Your invoice for October",
  email_body: "x".repeat(2_000),
  total: 1500,
  currency: "EUR",
  due: "2026-12-01",
  paid: false,
  lines: [
    { sku: "A-1", quantity: 3, price: 499.99 },
    { sku: "B-2", quantity: 1, price: 0.03 },
  ],
  vendor: { name: "ACME", vat: "DE123456789", address: { city: "Berlin", zip: "10115" } },
};

describe("the prompts of a simple action node with ten keys", async () => {
  const { models } = await play({
    task: { context },
    lines: [
      { role: "input_analyzer", answer: { needs_analysis: false, complexity: "simple" } },
      { role: "code_generator", answer: { code: "context['discount'] = 150" } },
      { role: "output_validator", answer: { valid: true, reason: "ok" } },
    ],
    runs: [sets({ discount: 150 })],
  });

  it.each([0, 1, 2])("have fewer than 1,500 tokens in call %i, including schemas and tools", (index) => {
    const call = models.asked[index];
    if (!call) throw new TypeError("the call never came");
    if (!("schema" in call.answer)) throw new TypeError("the call has no schema");
    const schemas = [call.answer.schema, ...(call.tools ?? []).map(({ parameters }) => parameters)].map((schema) =>
      JSON.stringify(z.toJSONSchema(schema)),
    );
    const descriptions = (call.tools ?? []).map(({ name, description }) => name + description);
    const whole = [call.instructions, call.input, ...schemas, ...descriptions].join("");
    expect(whole.length / charactersPerToken).toBeLessThan(maxTokens);
  });

  it("start with text that is the same for every run, so that providers can cache it", async () => {
    const other = await play({
      task: { context: { quite: "different" }, prompt: "Say hello" },
      lines: [
        { role: "input_analyzer", answer: { needs_analysis: false, complexity: "simple" } },
        { role: "code_generator", answer: { code: "context['a'] = 1" } },
        { role: "output_validator", answer: { valid: true, reason: "ok" } },
      ],
      runs: [sets({ a: 1 })],
    });
    expect(other.models.asked.map(({ instructions }) => instructions)).toEqual(
      models.asked.map(({ instructions }) => instructions),
    );
  });
});
