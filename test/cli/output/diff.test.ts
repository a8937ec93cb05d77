import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { differenceLines } from "../../../packages/cli/src/output/diff.ts";

const lines = (recorded: string | null, now: string | null) =>
  differenceLines([{ key: "k", recorded, now }])
    .map(stripVTControlCharacters)
    .slice(1);

describe("a difference of two values", () => {
  it("shows short values in full", () => {
    expect(lines('"a"', null)).toEqual(['      - "a"', "      + (not set)"]);
  });

  it.each([
    ["in the middle", "x".repeat(500)],
    ["at the end", ""],
  ])("shows only the text around the first difference if this difference is %s of two long values", (_where, after) => {
    const before = "a".repeat(300);
    const [was = "", is = ""] = lines(`"${before}1${after}"`, `"${before}2${after}"`);
    expect(was).toMatch(/^ {6}- …a{30}1/);
    expect(is).toMatch(/^ {6}\+ …a{30}2/);
    expect([was, is].every((line) => line.length <= 110)).toBe(true);
  });

  it("shows the end of the longer value if the shorter value is its start", () => {
    const text = "a".repeat(300);
    expect(lines(text, `${text}b`)[1]).toMatch(/a{30}b$/);
  });

  it("is cut without splitting a character", () => {
    const text = "😀".repeat(100);
    for (const pad of ["", "a"]) {
      const shown = lines(`${pad}${text}1`, `${pad}${text}2`).join("");
      expect(shown.isWellFormed()).toBe(true);
      expect(shown).toContain("😀1");
    }
  });
});
