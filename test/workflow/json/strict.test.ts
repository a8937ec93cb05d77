import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonProblem, StrictJson } from "../../../packages/workflow/src/json/strict.ts";

const nested = (levels: number, inside = "1") => "[".repeat(levels) + inside + "]".repeat(levels);

/** Checks bytes in chunks of `size` bytes, and returns the problem that the check reports. */
function verdict(bytes: Uint8Array, size = bytes.length || 1): string | undefined {
  const check = new StrictJson();
  try {
    for (let at = 0; at < bytes.length; at += size) check.look(bytes.subarray(at, at + size));
    check.end();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

it.each([
  "12345678901234567890",
  "-0.50e+10",
  "850.0",
  " {\n} ",
  "[]",
  '""',
  '{"a":{"a":[1,{"a":null}]},"b":"\\u00e9é😀\\ud83d\\ude00"}',
  '{"a":1,"A":2,"":3}',
  nested(500),
])("the strict check of JSON accepts %s", (text) => {
  expect(jsonProblem(text)).toBeUndefined();
});

it.each<[string, RegExp]>([
  ["", /cut off/],
  ["1 2", /"2" where/],
  ['{"a":1}, "status": "completed", "x": {"b":2}', /"," where/],
  ['{"a":1}}', /"}" where/],
  ["{1:2}", /"1" where/],
  ["[1,]", /"]" where/],
  ["[1 2]", /"2" where/],
  ['{"a":1,}', /"}" where/],
  ["[}", /"}" where/],
  ["01", /01, which is no JSON/],
  ["1.", /1\., which/],
  ["+1", /\+1, which/],
  ["NaN", /NaN, which/],
  ["-Infinity", /which is no JSON/],
  ["'a'", /"'" where/],
  ['"a', /cut off/],
  ['"\\x"', /escape/],
  ['"\\u12g4"', /escape/],
  ['"\n"', /control character/],
  ['"\\ud800"', /half a character/],
  ['"\\ude00\\ud83d"', /half a character/],
  ['"\\ud83dx\\ude00"', /half a character/],
  ['"\ud800"', /half a character/],
  ['{"a":1,"a":2}', /field "a" twice/],
  ['{"a":1,"\\u0061":2}', /field "\\u0061" twice/],
  ['{"é":1,"\\u00e9":2}', /twice/],
  [nested(3000), /nested more than 500 levels/],
  ["\ufeff1", /where JSON has none/],
])("the strict check of JSON reports the problem of %j", (text, problem) => {
  expect(jsonProblem(text)).toMatch(problem);
});

it.each([
  ["a lone byte", [0x22, 0xff, 0x22]],
  ["an overlong character of two bytes", [0x22, 0xc0, 0xaf, 0x22]],
  ["half a surrogate pair as bytes", [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ["a character whose last byte is missing", [0x22, 0xe2, 0x82, 0x22]],
])("the strict check of JSON refuses bytes that are not UTF-8: %s", (_what, bytes) => {
  for (const size of [1, 2, 3, 4]) expect(verdict(Uint8Array.from(bytes), size)).toMatch(/UTF-8|cut off/);
});

describe("the strict check of JSON", () => {
  /** Random JSON texts, some with spaces, repeated names, half characters or errors. */
  const texts = fc.oneof(
    fc.json({ maxDepth: 6 }),
    fc.json().map((text) => JSON.stringify(JSON.parse(text), null, 2)),
    fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", "}", '"', "\\", "0", "\u0001", "é", "{", " "))
      .map(
        ([text, at, mark]) => text.slice(0, at % (text.length + 1)) + mark + text.slice((at % (text.length + 1)) + 1),
      ),
    fc
      .array(fc.constantFrom(...'[]{}:,"\\ue0123.-truefalsn ', '"a"', "\\ud800", "\\udc00"))
      .map((parts) => parts.join("")),
  );

  it("accepts the same texts as JSON.parse, except for repeated names and half surrogate pairs", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const problem = jsonProblem(text);
        let value: unknown;
        try {
          value = JSON.parse(text);
        } catch {
          expect(problem).toBeDefined();
          return;
        }
        if (problem === undefined) expect(JSON.stringify(value).isWellFormed()).toBe(true);
        else expect(problem).toMatch(/twice in one object|half a character/);
      }),
      { numRuns: 5_000 },
    );
  });

  it("has the same result however the bytes are divided into chunks", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          texts.map((text) => Buffer.from(text)),
          fc.uint8Array(),
        ),
        fc.integer({ min: 1, max: 9 }),
        (bytes, size) => {
          expect(verdict(bytes, size) === undefined).toBe(verdict(bytes) === undefined);
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it("accepts every text that JSON.stringify writes, unless it has half a surrogate pair", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.integer({ min: 1, max: 64 }), (value, size) => {
        const text = JSON.stringify(value);
        const isWhole = !/\\ud[89a-f]/.test(text);
        expect(verdict(Buffer.from(text), size) === undefined).toBe(isWhole);
      }),
      { numRuns: 2_000 },
    );
  });
});
