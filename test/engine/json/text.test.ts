import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { membersOf, nestingOf, objectText } from "../../../packages/engine/src/json/text.ts";

describe("membersOf", () => {
  it.each([
    [
      "numbers digit for digit",
      '{"a":12345678901234567890,"b":850.0,"c":-0,"d":1e400}',
      ["12345678901234567890", "850.0", "-0", "1e400"],
    ],
    ["blanks around values away, inside values not", '{ "a" :\n[1 , 2]\t,"b": "x y" }', ["[1 , 2]", '"x y"']],
    ["brackets and quotes inside texts alone", '{"a":"}]\\"{","b":["]","\\\\"]}', ['"}]\\"{"', '["]","\\\\"]']],
    ["nested values whole", '{"a":{"b":[{"c":null}]},"d":true}', ['{"b":[{"c":null}]}', "true"]],
    ["nothing at all", " { } ", []],
  ])("leaves %s", (_what, text, values) => {
    expect(membersOf(text).map(({ json }) => json)).toEqual(values);
  });

  it.each([
    ['{"\\u0061\\n":1}', "a\n"],
    ['{"ünï 😀":1}', "ünï 😀"],
    ['{"__proto__":1}', "__proto__"],
    ['{"a\\"b\\\\":1}', 'a"b\\'],
  ])("reads the key of %s", (text, key) => {
    expect(membersOf(text)).toEqual([{ key, json: "1" }]);
  });

  it("gives a repeated key its first place and its last value", () => {
    expect(membersOf('{"a":1,"b":2,"a":3}')).toEqual([
      { key: "a", json: "3" },
      { key: "b", json: "2" },
    ]);
  });

  it.each(["[]", "null", '"{}"', "{", '{"a":1,}', ""])("refuses %j", (text) => {
    expect(() => membersOf(text)).toThrow(SyntaxError);
  });

  it("puts together again what it took apart", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()), fc.nat(3), (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        expect(JSON.parse(objectText(membersOf(text)))).toEqual(JSON.parse(text));
      }),
    );
  });
});

it.each([
  ["1", 0],
  ['"[[["', 0],
  ['{"a":[1,{"b":[]}]}', 4],
  [`${"[".repeat(100_000)}${"]".repeat(100_000)}`, 100_000],
])("counts how deep %.20s is nested", (text, depth) => {
  expect(nestingOf(text)).toBe(depth);
});
