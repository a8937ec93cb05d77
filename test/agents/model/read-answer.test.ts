import { describe, expect, it } from "vitest";
import { z } from "zod";
import { readAnswer, readObject } from "../../../packages/agents/src/model/read-answer.ts";

describe("the JSON object of an answer", () => {
  it.each([
    ["alone", '{"a": 1}', { a: 1 }],
    ["in a code fence", 'Sure:\n```json\n{"a": 1}\n```\nDone.', { a: 1 }],
    ["before the same object, written otherwise", '{"a": 1, "b": 2} {"b":2,"a":1}', { a: 1, b: 2 }],
    ["with braces and quotes in strings", String.raw`{"code": "d = {\"}\": '{'}"}`, { code: `d = {"}": '{'}` }],
    ["with a backslash at a string's end", String.raw`{"path": "C:\\"}`, { path: "C:\\" }],
    ["with objects inside", '{"a": {"b": {}}}', { a: { b: {} } }],
    ["with the text of another object in a string", String.raw`{"a": "{\"b\": 1}"}`, { a: '{"b": 1}' }],
    ["after braces that are none", 'the set {1, 2} is {"a": 1}', { a: 1 }],
    ["after a brace that stays open", '{ well: {"a": 1}', { a: 1 }],
    ["after lists without objects", 'As [1] and [2, 3] say: {"a": 1}', { a: 1 }],
    ["in a list of its own", '[{"a": 1}]', { a: 1 }],
    ["with a list inside", '{"a": [{"b": 1}, {"b": 2}]}', { a: [{ b: 1 }, { b: 2 }] }],
  ])("is found %s", (_where, text, expected) => {
    const read = readObject(text);
    expect(read.valid && JSON.parse(read.value)).toEqual(expected);
  });

  it.each(["no", "{", '{"a": ', "[1, 2]", "null", "{".repeat(50_000), '{"'.repeat(50_000), '[{"a":'.repeat(50_000)])(
    "is missing in %#",
    (text) => {
      expect(readObject(text)).toEqual({ valid: false, problem: "there is no JSON object in it" });
    },
  );

  it.each([
    ["in a list", '[{"total": 1}, {"total": 2}]', 2],
    ["in lists of lists", '[[{"total": 1}], [{"total": 2}, {"total": 3}]]', 3],
    ["in prose", 'Example: {"total": 1}. Final: {"total": 2}', 2],
    ["in code fences", '```json\n{"total": 1}\n```\n```json\n{"total": 2}\n```', 2],
    ["side by side", '{"total": 1}{"total": 2}', 2],
    ["with digits that only exact numbers tell apart", '{"n": 12345678901234567890} {"n": 12345678901234567891}', 2],
  ])("is ambiguous among several %s", (_where, text, count) => {
    const problem = `it is ambiguous: it has ${count} different JSON objects, and one is wanted`;
    expect(readObject(text)).toEqual({ valid: false, problem, isUnclear: true });
  });

  it.each([500, 100_000])("is refused if it is nested deeper than a context may be: %i", (levels) => {
    const json = `${'{"a":'.repeat(levels + 1)}1${"}".repeat(levels + 1)}`;
    expect(readObject(json)).toEqual({ valid: false, problem: "its JSON is nested deeper than 500 levels" });
  });

  it("keeps the digits of its numbers", () => {
    expect(readObject('{"a": 12345678901234567890, "b": 850.0}')).toEqual({
      valid: true,
      value: '{"a":12345678901234567890,"b":850.0}',
    });
  });
});

describe("an answer", () => {
  const schema = z.object({ done: z.boolean(), reasons: z.array(z.string()) });

  it("is read by its schema", () => {
    expect(readAnswer('{"done": true, "reasons": []}', schema)).toEqual({
      valid: true,
      value: { done: true, reasons: [] },
    });
  });

  it("reports every violation of its schema in one line", () => {
    expect(readAnswer('{"done": "yes", "reasons": [1]}', schema)).toEqual({
      valid: false,
      problem:
        "Invalid input: expected boolean, received string at done; Invalid input: expected string, received number at reasons[0]",
    });
  });

  it.each(["", " \n", "\u00a0"])("that is empty is reported as empty: %j", (text) => {
    expect(readAnswer(text, schema)).toEqual({ valid: false, problem: "it is empty", isUnclear: true });
  });

  it.each(["I cannot.", "null"])("without an object is reported so: %j", (text) => {
    expect(readAnswer(text, schema)).toEqual({ valid: false, problem: "there is no JSON object in it" });
  });
});
