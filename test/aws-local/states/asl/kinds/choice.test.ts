import { describe, expect, it } from "vitest";
import { outline, runState } from "../../support/run.ts";

const more = { Yes: { Type: "Pass", Result: "yes", End: true }, No: { Type: "Pass", Result: "no", End: true } };

function choose(rule: object, input: unknown) {
  const state = { Type: "Choice", Choices: [{ ...rule, Next: "Yes" }], Default: "No" };
  return runState(state, input, { more });
}

describe("in a Choice state, the comparison", () => {
  it.each<[string, unknown, unknown, "yes" | "no"]>([
    ["StringEquals", "a", "a", "yes"],
    ["StringEquals", "a", 1, "no"],
    ["NumericEquals", 1, 1.0, "yes"],
    ["NumericEquals", 1, "1", "no"],
    ["BooleanEquals", true, true, "yes"],
    ["BooleanEquals", true, "true", "no"],
  ])("%s %j with the value %j chooses the branch %s", async (operator, expected, value, branch) => {
    expect((await choose({ Variable: "$.v", [operator]: expected }, { v: value })).output).toBe(branch);
  });

  it.each<[boolean, unknown, "yes" | "no"]>([
    [true, { v: null }, "yes"],
    [true, {}, "no"],
    [false, {}, "yes"],
  ])("IsPresent %j with the input %j chooses the branch %s", async (wanted, input, branch) => {
    expect((await choose({ Variable: "$.v", IsPresent: wanted }, input)).output).toBe(branch);
  });
});

describe("several rules of a Choice state", () => {
  const ten = { Variable: "$.v", NumericEquals: 10 };
  const even = { Variable: "$.even", BooleanEquals: true };
  const present = { Variable: "$.x", IsPresent: true };

  it.each<[string, object, unknown, "yes" | "no"]>([
    ["And", { And: [ten, even] }, { v: 10, even: true }, "yes"],
    ["And", { And: [ten, even] }, { v: 10, even: false }, "no"],
    ["nested And", { And: [{ And: [ten, even] }, present] }, { v: 10, even: true, x: null }, "yes"],
    ["an And whose first rule does not hold", { And: [present, { Variable: "$.x", NumericEquals: 1 }] }, {}, "no"],
  ])("that are combined by %s choose the expected branch", async (_name, rule, input, branch) => {
    expect((await choose(rule, input)).output).toBe(branch);
  });
});

describe("a Choice state", () => {
  it("follows the first rule that holds, and passes its input on", async () => {
    const rules = [5, 3, 1].map((n) => ({ Variable: "$.v", NumericEquals: n, Next: `At${n}` }));
    const at = Object.fromEntries(
      [5, 3, 1].map((n) => [`At${n}`, { Type: "Pass", Result: n, ResultPath: "$.at", End: true }]),
    );
    const result = await runState({ Type: "Choice", Choices: rules }, { v: 3 }, { more: at });
    expect(result.output).toEqual({ v: 3, at: 3 });
    expect(outline(result).slice(1, 4)).toEqual([
      "2<0 ChoiceStateEntered",
      "3<2 ChoiceStateExited",
      "4<3 PassStateEntered",
    ]);
  });

  it("fails with States.NoChoiceMatched if no rule holds and there is no Default", async () => {
    const state = { Type: "Choice", Choices: [{ Variable: "$.v", NumericEquals: 2, Next: "Yes" }] };
    const result = await runState(state, { v: 1 }, { more: { Yes: more.Yes } });
    expect(result).toMatchObject({ status: "FAILED", error: "States.NoChoiceMatched" });
    expect(result.cause).toMatch(/^An error occurred while executing the state 'S' \(entered at the event id #2\)\./);
  });

  it("fails with States.Runtime if it compares a missing value", async () => {
    const result = await choose({ Variable: "$.v", NumericEquals: 1 }, { ok: 1 });
    expect(result).toMatchObject({
      error: "States.Runtime",
      cause:
        "An error occurred while executing the state 'S' (entered at the event id #2). Invalid path '$.v': The choice state's condition path references an invalid value.",
    });
  });

  it.each([
    { Variable: "$.v" },
    { Variable: "$.v", Equals: 1 },
    { Variable: "$.v", StringMatches: "*" },
    { Variable: "$.v", NumericEquals: "1" },
    { Variable: "$.v", NumericEqualsPath: "$.x" },
    { Not: { Variable: "$.v", IsPresent: true } },
    { And: [{}] },
  ])("rejects the rule %j", async (rule) => {
    await expect(choose(rule, {})).rejects.toThrow(/Variable|comparison operator|must be a number/);
  });
});
