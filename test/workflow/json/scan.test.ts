import { halfCharacterIn } from "@nova/workflow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linesOf, NotJson, positionOf, scanJson } from "../../../packages/workflow/src/json/scan.ts";

it("the JSON scanner accepts the same texts as JSON.parse", () => {
  const almost = fc.oneof(
    fc.json(),
    fc.string({ unit: fc.constantFrom(...'{}[]:,"\\ \n\t01-.eEutrfnalsx') }),
    fc.tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", "}", '"', " ", "1")).map(([json, at, more]) => {
      const place = at % (json.length + 1);
      return json.slice(0, place) + more + json.slice(place + 1);
    }),
  );
  fc.assert(
    fc.property(almost, (text) => {
      expect(isScanned(text)).toBe(isParsed(text));
    }),
    { numRuns: 2000 },
  );
});

function isScanned(text: string): boolean {
  try {
    scanJson(text);
    return true;
  } catch (error) {
    if (error instanceof NotJson) return false;
    throw error;
  }
}

function isParsed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

it.each([
  ["", 0, "a value"],
  ["{", 1, "a field name"],
  ['{"a":1,}', 7, "a field name"],
  ['{"a" 1}', 5, '":"'],
  ['{"a":1 "b":2}', 7, '"," or "}"'],
  ["[1 2]", 3, '"," or "]"'],
  ["[tru]", 1, "a value"],
  ["{} {}", 3, "nothing more"],
  ['"a\nb"', 0, "a value"],
  ["[01]", 2, '"," or "]"'],
])("the JSON scanner reports the offset at which %j stops being JSON", (text, offset, expected) => {
  expect(() => scanJson(text)).toThrow(expect.objectContaining({ offset, message: expect.stringContaining(expected) }));
});

it("the JSON scanner refuses extreme depths instead of overflowing the stack", () => {
  expect(() => scanJson("[".repeat(100_000))).toThrow("at most 500 levels");
});

it("the JSON scanner reports a repeated field, even if one of its names is written with escapes", () => {
  expect(scanJson('{"a":{"b":1,"\\u0062":2},"b":3}').repeated).toEqual([{ name: "b", offset: 12 }]);
});

describe("positionOf", () => {
  const text = '{\n  "nodes": [\n    {"id": "a"},\n    {"id": "b"}\n  ]\n}';
  const scan = scanJson(text);

  it.each([
    [[], 1, 1],
    [["nodes"], 2, 12],
    [["nodes", 1], 4, 5],
    [["nodes", 1, "id"], 4, 12],
    [["nodes", 1, "missing", "deeper"], 4, 5],
  ])("finds the value at the path %j on line %i, column %i", (segments, line, column) => {
    expect(linesOf(text)(positionOf(scan, segments).offset)).toEqual({ line, column });
  });
});

it("linesOf finds the lines of 400,000 offsets in one pass", () => {
  const count = 400_000;
  const lineAt = linesOf("\n".repeat(count));
  for (let offset = 0; offset < count; offset++) {
    if (lineAt(offset).line !== offset + 1) throw new Error(`offset ${offset} is on line ${lineAt(offset).line}`);
  }
});

it.each([
  [String.raw`"\ud800"`, "$"],
  [String.raw`{"a": "x\udc00"}`, "$.a"],
  [String.raw`{"a": {"b c": [1, "x", "\uD83D"]}}`, '$.a["b c"][2]'],
  [String.raw`{"a": [{"\udfff": 1}]}`, String.raw`$.a[0]["\udfff"]`],
  [String.raw`["\ude00\ud83d"]`, "$[0]"],
])("halfCharacterIn finds half of a surrogate pair in %s at the path %s", (json, path) => {
  expect(halfCharacterIn(json)).toBe(path);
});

it.each([String.raw`{"a": "\ud83d\ude00"}`, String.raw`{"a": "\\ud800"}`, '"😀"', '"\\u0041"', "[1.50, null, true]"])(
  "halfCharacterIn finds no half of a surrogate pair in %s",
  (json) => {
    expect(halfCharacterIn(json)).toBeUndefined();
  },
);

it("halfCharacterIn returns a path that starts with the given path", () => {
  expect(halfCharacterIn(String.raw`["\ud800"]`, "$.context")).toBe("$.context[0]");
});

it("halfCharacterIn finds half of a surrogate pair at a depth of 100,000 levels", () => {
  const depth = 100_000;
  const around = (text: string) => "[".repeat(depth) + text + "]".repeat(depth);
  expect(halfCharacterIn(around(String.raw`"\ud83d\ude00"`))).toBeUndefined();
  expect(halfCharacterIn(around(String.raw`"\ud83d"`))).toBe(`$${"[0]".repeat(depth)}`);
});
