import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dataSection } from "../../../packages/agents/src/prompts/data-section.ts";
import { quoted } from "../../../packages/agents/src/prompts/quote.ts";
import { Placeholder } from "../../../packages/agents/src/schema/placeholder.ts";
import { hostile } from "../../support/pipeline/hostile.ts";

describe("quoted", () => {
  it.each(hostile)("writes %j so that it cannot leave its line or pass for markup", (text) => {
    const written = quoted({ [text]: [text] });
    expect(JSON.parse(written)).toEqual({ [text]: [text] });
    expect(written).not.toMatch(/[<>`\r\n\u0085\u2028\u2029\u202e\u200b\ufeff]|\[\/?INST\]/u);
  });

  it("is JSON of the same value, whatever the value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const written = quoted(value);
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(written).not.toMatch(/[<>`\n]/);
      }),
    );
  });

  it("shows placeholders as such, and texts that look like them not", () => {
    expect(quoted([new Placeholder("string: 9 chars"), "<string: 9 chars>"])).toBe(
      '["<string: 9 chars>", "\\u003cstring: 9 chars\\u003e"]',
    );
  });
});

describe("dataSection", () => {
  it("is one JSON object with a member per line between its marks, without what is undefined", () => {
    expect(dataSection({ task: "a", context: { b: 1 }, none: undefined })).toBe(
      '<data>\n{"task": "a",\n"context": {"b": 1}}\n</data>',
    );
  });
});
