import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dataSection, quoteForPrompt, stageOf, withoutFence } from "../../../packages/agents/src/prompts/prompt.ts";
import { Placeholder } from "../../../packages/agents/src/schema/summary.ts";
import { hostile } from "../../support/pipeline/hostile.ts";

describe("quoteForPrompt", () => {
  it.each(hostile)("writes %j so that it cannot leave its line or pass for markup", (text) => {
    const written = quoteForPrompt({ [text]: [text] });
    expect(JSON.parse(written)).toEqual({ [text]: [text] });
    expect(written).not.toMatch(/[<>`\r\n\u0085\u2028\u2029\u202e\u200b\ufeff]|\[\/?INST\]/u);
  });

  it("returns JSON of the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const written = quoteForPrompt(value);
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(written).not.toMatch(/[<>`\n]/);
      }),
    );
  });

  it("writes placeholders unescaped, but escapes texts that look like them", () => {
    expect(quoteForPrompt([new Placeholder("string: 9 chars"), "<string: 9 chars>"])).toBe(
      '["<string: 9 chars>", "\\u003cstring: 9 chars\\u003e"]',
    );
  });
});

describe("dataSection", () => {
  it("returns one JSON object between marks, with one member per line and without undefined members", () => {
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
  ])("reads %j", (text, code) => {
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
  ])("reads %j", (code, stage) => {
    expect(stageOf(code)).toBe(stage);
  });
});
