import { describe, expect, it } from "vitest";
import { z } from "zod";
import { objectTextIn, readAnswer } from "../../../packages/agents/src/model/read-answer.ts";

describe("the first JSON object of a text", () => {
  it.each([
    ["alone", '{"a": 1}', { a: 1 }],
    ["in a code fence", 'Sure:\n```json\n{"a": 1}\n```\nDone.', { a: 1 }],
    ["before another", '{"a": 1} {"a": 2}', { a: 1 }],
    ["with braces and quotes in strings", String.raw`{"code": "d = {\"}\": '{'}"}`, { code: `d = {"}": '{'}` }],
    ["with a backslash at a string's end", String.raw`{"path": "C:\\"} {"a": 2}`, { path: "C:\\" }],
    ["with objects inside", '{"a": {"b": {}}}', { a: { b: {} } }],
    ["after braces that are none", 'the set {1, 2} is {"a": 1}', { a: 1 }],
    ["after a brace that stays open", '{ well: {"a": 1}', { a: 1 }],
    ["after thoughts that hold another", '<think>maybe {"a": 0}?</think>{"a": 1}', { a: 1 }],
  ])("is found %s", (_where, text, expected) => {
    expect(JSON.parse(objectTextIn(text) ?? "null")).toEqual(expected);
  });

  it.each(["", "no", "{", '{"a": ', "[1, 2]", "{".repeat(50_000)])("is null in %#", (text) => {
    expect(objectTextIn(text)).toBeNull();
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

  it("says every place where it does not follow its schema, in one line", () => {
    expect(readAnswer('{"done": "yes", "reasons": [1]}', schema)).toEqual({
      valid: false,
      problem:
        "Invalid input: expected boolean, received string at done; Invalid input: expected string, received number at reasons[0]",
    });
  });

  it.each(["", "I cannot.", "null"])("without an object says so: %j", (text) => {
    expect(readAnswer(text, schema)).toEqual({ valid: false, problem: "there is no JSON object in it" });
  });
});
