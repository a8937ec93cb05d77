import fc from "fast-check";
import { expect, it } from "vitest";
import { fitsWildcard, wildcardProblem } from "../../../packages/workflow/src/event-pattern/operators.ts";

it("a wildcard matches the same texts as the regular expression", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });
  const wildcards = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 6 });
  fc.assert(
    fc.property(wildcards, letters, (wildcard, text) => {
      const expected = new RegExp(`^${wildcard.replaceAll("*", ".*")}$`).test(text);
      expect(fitsWildcard(wildcard, text)).toBe(expected);
    }),
    { numRuns: 500 },
  );
});

it("an escaped star and an escaped backslash stand for themselves", () => {
  expect(["a*b", "axb"].map((text) => fitsWildcard("a\\*b", text))).toEqual([true, false]);
  expect(["a\\xb", "a\\b"].map((text) => fitsWildcard("a\\\\*b", text))).toEqual([true, true]);
});

it.each([
  ["a*b*", undefined],
  ["a\\**", undefined],
  ["a\\\\*", undefined],
  ["a**", "must not have two * in a row"],
  ["\\\\**", "must not have two * in a row"],
  ["a\\b", "must have \\* or \\\\ where it has a \\"],
  ["a\\", "must have \\* or \\\\ where it has a \\"],
])("the wildcard %j has the problem %j", (wildcard, problem) => {
  expect(wildcardProblem(wildcard)).toBe(problem);
});
