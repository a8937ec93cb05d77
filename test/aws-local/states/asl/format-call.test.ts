import { describe, expect, it } from "vitest";
import type { Json } from "../../../../packages/aws-local/src/json.ts";
import { DefinitionRejected } from "../../../../packages/aws-local/src/states/asl/failure.ts";
import { compileFormatCall } from "../../../../packages/aws-local/src/states/asl/payload-template.ts";

function evaluate(text: string, data: Json = {}): Json {
  return compileFormatCall(text, "$")({ data, context: { State: { Name: "S" } } });
}

describe("States.Format", () => {
  it.each<[string, Json, Json]>([
    ["States.Format('Hello {}, {}!', $.a, $.n)", { a: "you", n: 7 }, "Hello you, 7!"],
    ["States.Format('{} \\{\\} \\'quoted\\'', $)", 1.1, "1.1 {} 'quoted'"],
    ["States.Format('{} {} {}', $.a, $.b, $.c)", { a: null, b: true, c: -1.5e2 }, "null true -150"],
    ["States.Format('constant')", {}, "constant"],
    ["States.Format('{}', $$.State.Name)", {}, "S"],
  ])("is evaluated in the expression %s", (text, data, expected) => {
    expect(evaluate(text, data)).toEqual(expected);
  });

  it.each<[string, RegExp]>([
    ["States.Format('{} {}', $.a)", /2 occurrences of \{\} but 1 arguments/],
    ["States.Format('{}', $.a, $.a)", /1 occurrences of \{\} but 2 arguments/],
  ])("fails in the expression %s with States.IntrinsicFailure and the reason", (text, reason) => {
    expect(() => evaluate(text, { a: 1 })).toThrow(/^States.IntrinsicFailure: The function 'States/);
    expect(() => evaluate(text, { a: 1 })).toThrow(reason);
  });

  it.each([{ a: {} }, { a: [1] }])(
    "fails at run time if the value of a path is an object or a list, as `a` in %j",
    (data) => {
      expect(() => evaluate("States.Format('{}', $.a)", data)).toThrow(
        /^States.Runtime: .*neither a text nor a number/,
      );
    },
  );

  it("fails at run time if a path finds nothing", () => {
    expect(() => evaluate("States.Format('{}', $.missing)")).toThrow(
      /^States.Runtime: .*No results for path: \$\['missing'\]/,
    );
  });

  it.each([
    "States.Hash('x', 'MD5')",
    "States.toString()",
    "States.Format()",
    "States.Format(1)",
    "States.Format($.t, 'x')",
    "States.Format('{}', 1)",
    "States.Format('{}', $.a",
    "States.Format('{}', $.a) x",
    "States.Format('open)",
    "States.Format('{}', States.UUID())",
  ])("is the only intrinsic function and needs valid arguments, so the compiler refuses %s", (text) => {
    expect(() => compileFormatCall(text, "$")).toThrow(DefinitionRejected);
    expect(() => compileFormatCall(text, "$")).toThrow(/only States.Format of a text and of paths is served here/);
  });
});
