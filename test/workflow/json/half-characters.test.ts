import { halfCharacterIn } from "@nova/workflow";
import { expect, it } from "vitest";

it.each([
  [String.raw`"\ud800"`, "$"],
  [String.raw`{"a": "x\udc00"}`, "$.a"],
  [String.raw`{"a": {"b c": [1, "x", "\uD83D"]}}`, '$.a["b c"][2]'],
  [String.raw`{"a": [{"\udfff": 1}]}`, String.raw`$.a[0]["\udfff"]`],
  [String.raw`["\ude00\ud83d"]`, "$[0]"],
])("of %s it is at %s", (json, path) => {
  expect(halfCharacterIn(json)).toBe(path);
});

it.each([String.raw`{"a": "\ud83d\ude00"}`, String.raw`{"a": "\\ud800"}`, '"😀"', '"\\u0041"', "[1.50, null, true]"])(
  "is nowhere in %s",
  (json) => {
    expect(halfCharacterIn(json)).toBeUndefined();
  },
);

it("is named behind the place that it was looked for in", () => {
  expect(halfCharacterIn(String.raw`["\ud800"]`, "$.context")).toBe("$.context[0]");
});

it("is looked for however deep it may be", () => {
  const depth = 100_000;
  const around = (text: string) => "[".repeat(depth) + text + "]".repeat(depth);
  expect(halfCharacterIn(around(String.raw`"\ud83d\ude00"`))).toBeUndefined();
  expect(halfCharacterIn(around(String.raw`"\ud83d"`))).toBe(`$${"[0]".repeat(depth)}`);
});
