import { describe, expect, it } from "vitest";
import {
  hideTexts,
  promptLimits,
  resultLimits,
  type SummaryLimits,
  shapeOf,
  summarise,
} from "../../../packages/agents/src/schema/summary.ts";

const blob = (type: string, bytes = 9000) =>
  `{"$blob":{"sha256":"${"a".repeat(64)}","bytes":${bytes},"type":"${type}"}}`;
const open = { secrets: new Set<string>(), mask: (text: string) => text };
const shown = (values: Record<string, string>, limits: SummaryLimits = promptLimits, confidence = open) => {
  const members = Object.entries(values).map(([key, json]) => ({ key, json }));
  return JSON.parse(JSON.stringify(summarise(members, limits, confidence)));
};

describe("the summary of a value for a prompt", () => {
  it("masks a secret in a key before it shortens the key", () => {
    const secret = "s3cr3t-of-20-letters";
    const masking = { secrets: new Set<string>(), mask: (text: string) => text.replaceAll(secret, "***") };
    const key = `${"k".repeat(190)}${secret}`;
    expect(
      JSON.stringify([
        shown({ [key]: "1" }, promptLimits, masking),
        shown({ a: JSON.stringify({ [key]: 1 }) }, promptLimits, masking),
      ]),
    ).not.toContain("s3cr");
  });

  it.each([
    ["a short text", '"Acme"', "Acme"],
    ["a number", "850.0", 850],
    ["null", "null", null],
    ["a boolean", "true", true],
    ["a long text as its length", JSON.stringify("x".repeat(81)), "<string: 81 chars>"],
    ["a number of many digits", "1".repeat(50), "<integer>"],
    ["a text in a blob", blob("text", 50_000), "<string: 50000 chars>"],
    ["bytes", blob("bytes", 150_000), "<bytes: 150000 bytes>"],
    ["large JSON", blob("json", 90_000), "<JSON: 90000 bytes>"],
    ["an empty list", "[]", []],
    ["a list as its first item and the number of further items", "[1,2,3]", [1, "<2 more>"]],
    ["an object", '{"a":{"b":"c"}}', { a: { b: "c" } }],
    [
      "an object that lies too deep, as its number of keys",
      '{"a":{"b":{"c":{"d":1}}}}',
      { a: { b: { c: "<object: 1 keys>" } } },
    ],
    [
      "a list that lies too deep, as its number of items",
      '{"a":{"b":{"c":[1]}}}',
      { a: { b: { c: "<list: 1 items>" } } },
    ],
    ["an object with a key that looks like the key of a reference", '{"$$blob":1}', { $blob: 1 }],
  ])("shows each kind of value in a short form: %s", (_, json, expected) => {
    expect(shown({ key: json })).toEqual({ key: expected });
  });

  it.each([
    ['"Acme"', "<string: 4 chars>"],
    ["1.5", "<number>"],
    ["15", "<integer>"],
    ["true", "<boolean>"],
  ])("shows only the type of a value if `samples` is false: %s", (json, expected) => {
    expect(shown({ key: json }, { ...promptLimits, samples: false })).toEqual({ key: expected });
  });

  it("shows every digit of a number", () => {
    const summary = summarise([{ key: "n", json: "12345678901234567890" }], promptLimits, open);
    expect(JSON.stringify(summary)).toBe('{"n":12345678901234567890}');
  });

  it("shows up to 200 characters of a text in a result", () => {
    expect(shown({ a: JSON.stringify("x".repeat(200)) }, resultLimits)).toEqual({ a: "x".repeat(200) });
  });

  it("shows no secret", () => {
    const confidence = {
      secrets: new Set(["password"]),
      mask: (text: string) => text.replaceAll("4711-hunter2", "***"),
    };
    const values = { password: '"4711-hunter2"', note: '"it is 4711-hunter2"', by: '{"4711-hunter2":1}' };
    expect(shown(values, promptLimits, confidence)).toEqual({
      password: "<secret>",
      note: "it is ***",
      by: { "***": 1 },
    });
  });

  it("hides a number that contains the digits of a secret", () => {
    const confidence = { ...open, mask: (text: string) => text.replaceAll("4711", "***") };
    expect(shown({ n: "1471199" }, promptLimits, confidence)).toEqual({ n: "<secret>" });
  });

  it("shows less of each value if the context is large", () => {
    const wide = JSON.stringify(
      Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`member${n}`, "x".repeat(70)])),
    );
    const summary = shown(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`key${n}`, wide])));
    expect(JSON.stringify(summary).length).toBeLessThan(8_000);
    expect(summary.key29).toBe("<object: 30 keys>");
  });

  it("shortens very long keys", () => {
    const key = "k".repeat(1_000);
    const inner = JSON.stringify({ [key]: 1 });
    const short = `${"k".repeat(200)}... (1000 chars)`;
    expect(shown({ [key]: inner })).toEqual({ [short]: { [short]: 1 } });
  });

  it("shows how many keys of a large value it leaves out", () => {
    const summary = shown(Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`key${n}`, "1"])));
    expect(summary["..."]).toBe("<20 more keys>");
  });
});

const code = `result = {"type": "pdf", 'lines': [line for line in text], "total": None}`;

it.each([
  ["texts that the code of the analysis itself contains", { type: "pdf" }, { type: "pdf" }],
  ["no text of the data", { type: "Sirius Black" }, { type: "<string: 12 chars>" }],
  ["no key of the data", { "Sirius Black": 1 }, { "key 1": 1 }],
  ["numbers, booleans and null", { lines: [3, true, null] }, { lines: [3, true, null] }],
  [
    "no text of the data inside other values",
    { lines: [{ total: "12 EUR" }] },
    { lines: [{ total: "<string: 6 chars>" }] },
  ],
])("the result of an analysis under `samples: false` shows %s", (_, found, shown) => {
  expect(JSON.parse(JSON.stringify(hideTexts(found, code)))).toEqual(shown);
});

it.each([
  ["null", { type: "null" }],
  ["false", { type: "boolean" }],
  ["7", { type: "integer" }],
  ["850.0", { type: "number" }],
  ['"text"', { type: "string", size: 4 }],
  [blob("text"), { type: "string", size: 9000 }],
  [blob("bytes"), { type: "bytes", size: 9000 }],
  [blob("json"), { type: "object" }],
  ["[]", { type: "list", size: 0 }],
  [
    '[{"sku":"A"},3]',
    { type: "list", size: 2, item: { type: "object", size: 1, members: { sku: { type: "string", size: 1 } } } },
  ],
  ['{"$$blob":1}', { type: "object", size: 1, members: { $blob: { type: "integer" } } }],
])("shapeOf returns the types in the value %s", (json, expected) => {
  expect(shapeOf([{ key: "key", json }])).toEqual({ key: expected });
});

it("shapeOf treats the key __proto__ like any other key", () => {
  expect(Object.keys(shapeOf([{ key: "__proto__", json: '{"__proto__":1}' }]))).toEqual(["__proto__"]);
});
