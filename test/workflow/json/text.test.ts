import { isRawNumber, keepingDigits, parseExact, textOfJson } from "@nova/workflow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  maskValue,
  measureOf,
  membersOf,
  objectText,
  RawJson,
  renderJson,
  valueAt,
} from "../../../packages/workflow/src/json/text.ts";

describe("membersOf", () => {
  it.each([
    [
      "numbers exactly as they are written",
      '{"a":12345678901234567890,"b":850.0,"c":-0,"d":1e400}',
      ["12345678901234567890", "850.0", "-0", "1e400"],
    ],
    [
      "values without the blanks around them, but with those inside",
      '{ "a" :\n[1 , 2]\t,"b": "x y" }',
      ["[1 , 2]", '"x y"'],
    ],
    ["texts with brackets and quotes unchanged", '{"a":"}]\\"{","b":["]","\\\\"]}', ['"}]\\"{"', '["]","\\\\"]']],
    ["nested values unchanged", '{"a":{"b":[{"c":null}]},"d":true}', ['{"b":[{"c":null}]}', "true"]],
    ["no members for an empty object", " { } ", []],
  ])("returns %s", (_what, text, values) => {
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

  it("keeps for a repeated key its first position and its last value", () => {
    expect(membersOf('{"a":1,"b":2,"a":3}')).toEqual([
      { key: "a", json: "3" },
      { key: "b", json: "2" },
    ]);
  });

  it.each(["[]", "null", '"{}"', "{", '{"a":1,}', ""])("throws for %j, which is not the text of an object", (text) => {
    expect(() => membersOf(text)).toThrow(SyntaxError);
  });

  it("splits the text of an object into members, from which objectText makes an equal object", () => {
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
  ['}}[{"never ends: [[[', 0],
  [`[["a\\\\":${"\\".repeat(1000)}`, 2],
])("measureOf returns the depth of %.20s", (text, depth) => {
  expect(measureOf(text).depth).toBe(depth);
});

it("measureOf counts as keys only colons that are outside strings", () => {
  expect(measureOf('{"a:b": {"c": ":"}, "d" : 1').keys).toBe(3);
});

it.each(["12345678901234567890", "850.0", "-0", "1E5", '[1.10,{"a":2.50}]', '{"__proto__":1.0}', '"1.0"', "null"])(
  "parseExact keeps the value %s as it is written",
  (text) => {
    expect(JSON.stringify(parseExact(text))).toBe(text);
  },
);

it("isRawNumber is true for the numbers of parseExact, and false for all other values", () => {
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
])("valueAt finds at the path %j a member or an item, but no inherited name of JavaScript", (path, json) => {
  expect(valueAt('{"a":[{"b":850.0}]}', path)).toBe(json);
});

it("renderJson writes a RawJson unchanged between other values", () => {
  const value = { a: new RawJson("850.0"), b: [undefined, new RawJson("1.0"), "x"], c: undefined };
  expect(renderJson(value)).toBe('{"a":850.0,"b":[null,1.0,"x"]}');
});

const mask = (text: string) => text.replaceAll("4711", "***");

it.each([
  ["pin 4711", "pin ***"],
  [{ "key 4711": ["4711", null, true] }, { "key ***": ["***", null, true] }],
  [1471100, "1***00"],
  [{ n: 5 }, { n: 5 }],
  [parseExact("99994711999999999999"), "9999***999999999999"],
  [{ toJSON: () => "<string: 9 chars>" }, "<string: 9 chars>"],
])("maskValue masks secrets in the value %j", (value, expected) => {
  expect(maskValue(value, mask)).toEqual(expected);
});

it("maskValue leaves numbers that contain no secret exactly as they are written", () => {
  expect(JSON.stringify(maskValue(parseExact('{"n":12345678901234567890.10}'), mask))).toBe(
    '{"n":12345678901234567890.10}',
  );
});

it.each(["{}", '{"a":1,"b":[-2.5,{"c":1e+200}],"d":"1e2","e":null}', '{"__proto__":{"a":1}}'])(
  "keepingDigits returns an object for %s, because JavaScript represents all of its numbers exactly",
  (text) => {
    expect(keepingDigits(text)).toEqual(JSON.parse(text));
    expect(textOfJson(keepingDigits(text))).toBe(text);
  },
);

it.each(["9007199254740993", "12345678901234567890", "850.0", "1e2", "-0", "1E-200", "1e400", "0.10"])(
  "keepingDigits returns a text for an object with %s, because JavaScript cannot represent this number exactly",
  (number) => {
    expect(keepingDigits(`{ "n" : [ ${number} ] }`)).toBe(`{"n":[${number}]}`);
  },
);

it("keepingDigits ignores blanks around a number", () => {
  expect(keepingDigits('{ "a" :\n 1 }')).toEqual({ a: 1 });
});
