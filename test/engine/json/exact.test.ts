import { isRawNumber, parseExact } from "@nova/workflow";
import { expect, it } from "vitest";
import { valueAt } from "../../../packages/engine/src/json/exact.ts";
import { RawJson, renderJson } from "../../../packages/engine/src/json/raw.ts";

it.each(["12345678901234567890", "850.0", "-0", "1E5", '[1.10,{"a":2.50}]', '{"__proto__":1.0}', '"1.0"', "null"])(
  "gives %s back as it was",
  (text) => {
    expect(JSON.stringify(parseExact(text))).toBe(text);
  },
);

it("tells numbers from objects", () => {
  expect([parseExact("1"), parseExact("{}"), parseExact("[]"), null].map(isRawNumber)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

it.each([
  [["a", "0", "b"], "850.0"],
  [["a"], '[{"b":850.0}]'],
  [[], '{"a":[{"b":850.0}]}'],
  [["a", "1"], undefined],
  [["a", "length"], undefined],
  [["a", "0", "b", "c"], undefined],
  [["toString"], undefined],
])("finds at %j what is there, and nothing of JavaScript's own", (path, json) => {
  expect(valueAt('{"a":[{"b":850.0}]}', path)).toBe(json);
});

it("renders text that is JSON already beside plain values", () => {
  const value = { a: new RawJson("850.0"), b: [undefined, new RawJson("1.0"), "x"], c: undefined };
  expect(renderJson(value)).toBe('{"a":850.0,"b":[null,1.0,"x"]}');
});
