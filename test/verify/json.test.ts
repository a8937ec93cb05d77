import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJson } from "../../packages/verify/src/json.ts";

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

describe("a strict parser", () => {
  it("reads every value that JSON.stringify writes, unless it contains the name __proto__ or a number that is not whole", () => {
    const value = fc.jsonValue({ maxDepth: 5 }).map((any) => JSON.parse(JSON.stringify(any), onlyWhole));
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, "\t\r\n "), (any, space) => {
        const text = JSON.stringify(any);
        fc.pre(text.isWellFormed() && !/\\ud[89a-f]/i.test(text) && !text.includes('"__proto__":'));
        expect(JSON.stringify(parseJson(JSON.stringify(any, null, space)))).toBe(JSON.stringify(any));
      }),
    );
  });

  it("refuses every text that JSON.parse refuses, and any further text only if the text breaks a rule of the strict parser", () => {
    const pieces = fc.constantFrom(
      ...'{}[]":,\\ \n01-.eEtrue',
      "null",
      '"a"',
      '"b":',
      "\\u00e9",
      "\u0000",
      "é",
      "1e5",
      "-0",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (all) => {
        const text = all.join("");
        const strict = attempt(() => parseJson(text));
        const loose = attempt(() => JSON.parse(text));
        expect(strict).toBe(loose && !/("[a-z]?")\s*:.*\1\s*:/s.test(text) ? true : strict && loose);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ["a name that an object has twice", '{"a":1,"b":{},"a":1}'],
    ["the same name in two spellings", '{"a":1,"\\u0061":1}'],
    ["the name __proto__", '{"__proto__":1}'],
    ["half of a surrogate pair as an escape", '"\\ud800"'],
    ["the second half of a surrogate pair", '{"\\udc00":1}'],
    ["half of a surrogate pair without an escape", '"\ud83d"'],
    ["65 levels", nested(65)],
    ["a million levels", nested(1_000_000)],
    ["a text that ends in the middle", '"abc'],
    ["a text after the end of the value", "{} {}"],
    ["an empty text", ""],
    ["a byte order mark", "\ufeff{}"],
    ["a space of Unicode", "\u00a01"],
    ["a comment", "{/**/}"],
    ["NaN", "NaN"],
    ["a number with a plus", "+1"],
    ["a number with leading zeros", "01"],
    ["a comma at the end", "[1,]"],
    ["a line feed in a text", '"\n"'],
  ])("refuses %s", (_, text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  it.each([
    ["0", 0],
    ["999999999999999", 999999999999999],
    ["1000000000000000", Number.NaN],
    ["-0", Number.NaN],
    ["1.0", Number.NaN],
    ["1e2", Number.NaN],
    ["1E999", Number.NaN],
  ])("reads the number %s as %d", (text, number) => {
    expect(parseJson(text)).toBe(number);
  });

  it("accepts member names of Object.prototype, 64 levels and long texts", () => {
    expect(Object.keys(parseJson('{"constructor":1,"toString":2}') as object)).toEqual(["constructor", "toString"]);
    expect(parseJson(nested(64))).toEqual(JSON.parse(nested(64)));
    expect(parseJson(JSON.stringify("\\".repeat(100_000)))).toHaveLength(100_000);
  });
});

function onlyWhole(_: string, value: unknown): unknown {
  return typeof value === "number" ? Math.abs(Math.trunc(value)) % 1e15 : value;
}

function attempt(run: () => unknown): boolean {
  try {
    run();
    return true;
  } catch {
    return false;
  }
}
