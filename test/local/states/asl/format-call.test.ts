import { describe, expect, it } from "vitest";
import type { Json } from "../../../../packages/local/src/json.ts";
import { DefinitionRejected } from "../../../../packages/local/src/states/asl/failure.ts";
import { compileFormatCall } from "../../../../packages/local/src/states/asl/format-call.ts";

function evaluate(text: string, data: Json = {}): Json {
  return compileFormatCall(text, "$")({ data, context: { Execution: { Name: "run" } } });
}

describe("States.Format", () => {
  it.each<[string, Json, Json]>([
    ["States.Format('Hello {}, {}!', $.a, 7)", { a: "you" }, "Hello you, 7!"],
    ["States.Format('{} \\{\\} \\'quoted\\'', $)", 1.1, "1.1 {} 'quoted'"],
    ["States.Format('{} {} {}', $, true, -1.5e2)", null, "null true -150"],
    [
      "States.Format('fst={} and snd={}', $.a, $.b)",
      { a: { Arg1: 1, Arg2: [] }, b: true },
      "fst={Arg1=1, Arg2=[]} and snd=true",
    ],
    ["States.Format($.t, 'x')", { t: "<{}>" }, "<x>"],
    ["States.Format('{}', $['a, b'])", { "a, b": 1 }, "1"],
    ["States.Format('{}', $$.Execution.Name)", {}, "run"],
  ])("%s", (text, data, expected) => {
    expect(evaluate(text, data)).toEqual(expected);
  });

  it.each<[string, Json, string | RegExp]>([
    ["States.Format('{} {}', 1)", {}, /2 occurrences of \{\} but 1 arguments/],
    ["States.Format(1)", {}, /The template must be a string/],
    ["States.Format()", {}, /The template must be a string/],
  ])("%s fails with States.IntrinsicFailure and the reason", (text, data, reason) => {
    expect(() => evaluate(text, data)).toThrow(/^States.IntrinsicFailure: The function 'States/);
    expect(() => evaluate(text, data)).toThrow(reason);
  });

  it("is a runtime error where a path finds nothing", () => {
    expect(() => evaluate("States.Format('{}', $.missing)")).toThrow(
      /^States.Runtime: .*No results for path: \$\['missing'\]/,
    );
  });

  it.each([
    ["States.Hash('x', 'MD5')", /only States.Format is served here/],
    ["States.toString()", /only States.Format is served here/],
    ["States.Format('{}', 1", /only States.Format is served here/],
    ["States.Format('{}', 1) x", /only States.Format is served here/],
    ["States.Format('open)", /a text, a path or a constant is expected/],
    ["States.Format('{}', States.UUID())", /a text, a path or a constant is expected/],
  ])("%s is rejected when the definition is compiled", (text, reason) => {
    expect(() => compileFormatCall(text, "$")).toThrow(DefinitionRejected);
    expect(() => compileFormatCall(text, "$")).toThrow(reason);
  });
});
