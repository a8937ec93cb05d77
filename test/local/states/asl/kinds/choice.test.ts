import { describe, expect, it } from "vitest";
import { outline, runState } from "../../support/run.ts";

const more = { Yes: { Type: "Pass", Result: "yes", End: true }, No: { Type: "Pass", Result: "no", End: true } };

function choose(rule: object, input: unknown) {
  const state = { Type: "Choice", Choices: [{ ...rule, Next: "Yes" }], Default: "No" };
  return runState(state, input, { more });
}

const T1 = "2026-01-31T12:00:00Z";
const T2 = "2026-01-31T13:00:00.5+00:30";

describe("a comparison", () => {
  it.each<[string, unknown, unknown, "yes" | "no"]>([
    ["StringEquals", "a", "a", "yes"],
    ["StringEquals", "a", 1, "no"],
    ["StringLessThan", "b", "a", "yes"],
    ["StringGreaterThan", "a", "b", "yes"],
    ["StringLessThanEquals", "a", "b", "no"],
    ["StringGreaterThanEquals", "a", "a", "yes"],
    ["NumericEquals", 1, 1.0, "yes"],
    ["NumericEquals", 1, "1", "no"],
    ["NumericLessThan", 1000, 999.99, "yes"],
    ["NumericGreaterThan", 1000, 1000, "no"],
    ["NumericGreaterThan", 1000, 1000.01, "yes"],
    ["NumericLessThanEquals", 3, 3, "yes"],
    ["NumericGreaterThanEquals", 3, 2, "no"],
    ["BooleanEquals", true, true, "yes"],
    ["BooleanEquals", true, "true", "no"],
    ["TimestampEquals", T1, "2026-01-31T13:00:00+01:00", "yes"],
    ["TimestampEquals", T1, "2026-01-31 12:00:00Z", "no"],
    ["TimestampLessThan", T2, T1, "yes"],
    ["TimestampGreaterThan", T1, T2, "yes"],
    ["TimestampLessThanEquals", T1, T2, "no"],
    ["TimestampGreaterThanEquals", T1, T1, "yes"],
  ])("%s %j takes %j for %s, written out or behind a path", async (operator, expected, value, branch) => {
    expect((await choose({ Variable: "$.v", [operator]: expected }, { v: value })).output).toBe(branch);
    const behindPath = { Variable: "$.v", [`${operator}Path`]: "$.e" };
    expect((await choose(behindPath, { v: value, e: expected })).output).toBe(branch);
  });

  it.each<[string, unknown, "yes" | "no"]>([
    ["log-*.txt", "log-2026.txt", "yes"],
    ["log-*.txt", "log-2026.txt.gz", "no"],
    ["*", "", "yes"],
    ["a.c", "abc", "no"],
    ["a\\*c", "a*c", "yes"],
    ["a\\*c", "abc", "no"],
    ["a\\\\c", "a\\c", "yes"],
    ["*x*", "line\nx\nline", "yes"],
    ["*", 7, "no"],
  ])("StringMatches %j takes %j for %s", async (pattern, value, branch) => {
    expect((await choose({ Variable: "$.v", StringMatches: pattern }, { v: value })).output).toBe(branch);
  });

  it.each<[string, boolean, unknown, "yes" | "no"]>([
    ["IsNull", true, { v: null }, "yes"],
    ["IsNull", false, { v: 1 }, "yes"],
    ["IsString", true, { v: "" }, "yes"],
    ["IsNumeric", true, { v: "1" }, "no"],
    ["IsBoolean", true, { v: false }, "yes"],
    ["IsTimestamp", true, { v: T1 }, "yes"],
    ["IsTimestamp", true, { v: "tomorrow" }, "no"],
    ["IsTimestamp", true, { v: "2026-13-01T00:00:00Z" }, "no"],
    ["IsPresent", true, { v: null }, "yes"],
    ["IsPresent", true, {}, "no"],
    ["IsPresent", false, {}, "yes"],
  ])("%s %j takes %j for %s", async (operator, wanted, input, branch) => {
    expect((await choose({ Variable: "$.v", [operator]: wanted }, input)).output).toBe(branch);
  });
});

describe("rules combined", () => {
  const big = { Variable: "$.v", NumericGreaterThan: 10 };
  const even = { Variable: "$.even", BooleanEquals: true };

  it.each<[string, object, unknown, "yes" | "no"]>([
    ["And", { And: [big, even] }, { v: 11, even: true }, "yes"],
    ["And", { And: [big, even] }, { v: 11, even: false }, "no"],
    ["Or", { Or: [big, even] }, { v: 1, even: true }, "yes"],
    ["Not", { Not: big }, { v: 1 }, "yes"],
    [
      "nested",
      { And: [{ Not: { Or: [big, even] } }, { Variable: "$.v", IsNumeric: true }] },
      { v: 1, even: false },
      "yes",
    ],
    [
      "And stops early",
      {
        And: [
          { Variable: "$.x", IsPresent: true },
          { Variable: "$.x", IsNull: true },
        ],
      },
      {},
      "no",
    ],
  ])("by %s", async (_name, rule, input, branch) => {
    expect((await choose(rule, input)).output).toBe(branch);
  });
});

describe("a Choice state", () => {
  it("takes the first rule that holds and hands its input on", async () => {
    const rules = [5, 3, 1].map((n) => ({ Variable: "$.v", NumericGreaterThanEquals: n, Next: `At${n}` }));
    const at = Object.fromEntries(
      [5, 3, 1].map((n) => [`At${n}`, { Type: "Pass", Result: n, ResultPath: "$.at", End: true }]),
    );
    const result = await runState({ Type: "Choice", Choices: rules }, { v: 4 }, { more: at });
    expect(result.output).toEqual({ v: 4, at: 3 });
    expect(outline(result).slice(1, 4)).toEqual([
      "2<0 ChoiceStateEntered",
      "3<2 ChoiceStateExited",
      "4<3 PassStateEntered",
    ]);
  });

  it("fails with States.NoChoiceMatched where no rule holds and there is no Default", async () => {
    const state = { Type: "Choice", Choices: [{ Variable: "$.v", IsNull: true, Next: "Yes" }] };
    const result = await runState(state, { v: 1 }, { more: { Yes: more.Yes } });
    expect(result).toMatchObject({ status: "FAILED", error: "States.NoChoiceMatched" });
    expect(result.cause).toMatch(/^An error occurred while executing the state 'S' \(entered at the event id #2\)\./);
  });

  it.each([
    { Variable: "$.v", NumericEquals: 1 },
    { Variable: "$.ok", NumericEqualsPath: "$.v" },
  ])("fails with States.Runtime where %j compares something that is not there", async (rule) => {
    const result = await choose(rule, { ok: 1 });
    expect(result).toMatchObject({
      error: "States.Runtime",
      cause:
        "An error occurred while executing the state 'S' (entered at the event id #2). Invalid path '$.v': The choice state's condition path references an invalid value.",
    });
  });

  it.each([
    { Variable: "$.v" },
    { Variable: "$.v", Equals: 1 },
    { Variable: "$.v", StringMatchesPath: "$.x" },
    { And: [{}] },
  ])("rejects the rule %j", async (rule) => {
    await expect(choose(rule, {})).rejects.toThrow(/Variable|comparison operator/);
  });
});
