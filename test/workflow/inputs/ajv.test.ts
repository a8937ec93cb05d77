import { describe, expect, it } from "vitest";
import { linearPattern, PatternRefused } from "../../../packages/workflow/src/inputs/ajv.ts";

describe("a pattern", () => {
  it("takes linear time even if ECMAScript would take years", () => {
    expect(linearPattern("^(a+)+$").test(`${"a".repeat(100_000)}!`)).toBe(false);
    expect(linearPattern("^(a|a)*$").test(`${"a".repeat(100_000)}!`)).toBe(false);
  });

  it.each([
    ["^\\d{4}-\\d\\d$", "2026-11", "2026-1"],
    ["b+", "abc", "ac"],
    ["^\\/x\\u00e9$", "/xé", "/xe"],
    ["^(?<year>\\d+)$", "2026", "y"],
    ["^\\p{Lu}", "Äpfel", "äpfel"],
    ["^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$", "ann@example.com", "ann@example"],
    ["^.$", "😀", "ab"],
  ])("means the same as in ECMAScript: %s", (pattern, fitting, other) => {
    expect([fitting, other].map((text) => linearPattern(pattern).test(text))).toEqual([true, false]);
    expect([fitting, other].map((text) => new RegExp(pattern, "u").test(text))).toEqual([true, false]);
  });

  it.each(["(?=a)b", "(?<!a)b", "(a)\\1", "(?<n>a)\\k<n>", "x{1001}", "((a{1000}){1000}){1000}"])(
    "%s is refused with the way out",
    (pattern) => {
      expect(() => linearPattern(pattern)).toThrow(/RE2.* cannot run the pattern .* - write it without backreferences/);
    },
  );

  it("must be a valid regular expression of limited length", () => {
    expect(() => linearPattern("(")).toThrow(/is no regular expression: .* - correct it/);
    expect(() => linearPattern("a**")).toThrow(PatternRefused);
    expect(() => linearPattern("a".repeat(1001))).toThrow(/has 1001 characters, at most 1000 are taken - /);
  });
});
