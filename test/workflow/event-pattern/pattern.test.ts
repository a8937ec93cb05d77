import { type MatchableObject, matchesPattern, parseExact } from "@nova/workflow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkPattern, fitsWildcard, wildcardProblem } from "../../../packages/workflow/src/event-pattern/pattern.ts";
import type { JsonObject, JsonValue } from "../../../packages/workflow/src/workflow.ts";

const problems = (pattern: JsonObject) =>
  [...checkPattern(pattern)].map(({ segments, message }) => `${segments.join(".")}: ${message}`);

const rightOperations: JsonObject[] = [
  { prefix: "a" },
  { suffix: "a" },
  { "equals-ignore-case": "a" },
  { wildcard: "a*" },
  { exists: false },
  { numeric: ["=", 1] },
  { numeric: [">", 0, "<=", 5] },
  { "anything-but": "a" },
  { "anything-but": ["a", "b"] },
  { "anything-but": { wildcard: "*a" } },
];

it("an event pattern with every kind of value and every operator is accepted", () => {
  expect(problems({ source: ["a", 1, true, null], detail: { a: { b: rightOperations } } })).toEqual([]);
});

it.each<[JsonValue]>([
  [{ prefix: 1 }],
  [{ wildcard: "a**" }],
  [{ exists: "yes" }],
  [{ numeric: [] }],
  [{ numeric: [">"] }],
  [{ numeric: [">", "0"] }],
  [{ numeric: ["constructor", 0] }],
  [{ numeric: [">", 0, "<", 5, "=", 3] }],
  [{ "anything-but": true }],
  [{ "anything-but": [] }],
  [{ "anything-but": { exists: true } }],
])("an operator in an event pattern is refused if its operand is wrong: %j", (operation) => {
  const name = Object.keys(operation as JsonObject)[0];
  expect(problems({ a: [operation] })).toEqual([
    expect.stringMatching(new RegExp(`^a\\.0\\.${name}: has an operator with a wrong value - ${name} must `)),
  ]);
});

it.each<[JsonObject, string]>([
  [{}, ": names no field - "],
  [{ a: {} }, "a: names no field - "],
  [{ a: "x" }, 'a: "a" has a value by itself - write a list of values: ["x"]'],
  [{ a: [] }, 'a: "a" lists no value - '],
  [{ a: [["x"]] }, "a.0: has a value that is no text, "],
  [{ a: [{ prefix: "a", suffix: "b" }] }, "a.0: has a value that is no text, "],
  [
    { a: [{ constructor: "x" }] },
    'a.0.constructor: has the unknown operator "constructor" - the operators are prefix, ',
  ],
])("the event pattern %j is refused", (pattern, problem) => {
  expect(problems(pattern)).toEqual([expect.stringContaining(problem)]);
});

const event: JsonObject = {
  source: "shop",
  "detail-type": "order.paid",
  detail: {
    id: "A-17",
    total: 850.5,
    paid: true,
    note: null,
    tags: ["new", "gift"],
    lines: [
      { sku: "x", n: 1 },
      { sku: "y", n: 2 },
    ],
    none: [],
  },
};

const detail = (fields: JsonObject): JsonObject => ({ detail: fields });
const id = (operation: JsonValue) => detail({ id: [operation] });
const total = (operation: JsonValue) => detail({ total: [operation] });

describe.each<[boolean, [string, JsonObject][]]>([
  [
    true,
    [
      ["a list that contains the value", { source: ["mail", "shop"] }],
      [
        "several fields that all match",
        { source: ["shop"], ...detail({ paid: [true], note: [null], total: [850.5] }) },
      ],
      ["one element of a list", detail({ tags: ["gift", "old"] })],
      ["one object of a list", detail({ lines: { sku: ["y"], n: [2] } })],
      ["prefix", id({ prefix: "A-" })],
      ["suffix", id({ suffix: "17" })],
      ["equals-ignore-case", id({ "equals-ignore-case": "a-17" })],
      ["wildcard", id({ wildcard: "*-1*" })],
      ["anything-but and a value", id({ "anything-but": "B" })],
      ["anything-but and a list of values", total({ "anything-but": [1, 2] })],
      ["anything-but and a prefix", id({ "anything-but": { prefix: "B" } })],
      ["numeric and two limits", total({ numeric: [">", 850, "<=", 850.5] })],
      ["numeric and =", total({ numeric: ["=", 850.5] })],
      ["exists", id({ exists: true })],
      [
        "exists: false for an absent field",
        detail({ nobody: [{ exists: false }], deep: { down: [{ exists: false }] } }),
      ],
      ["exists: false for an empty list", detail({ none: [{ exists: false }] })],
      ["exists: false or a value", detail({ nobody: ["x", { exists: false }] })],
    ],
  ],
  [
    false,
    [
      ["another value", { source: ["mail"] }],
      ["two fields of which only one matches", { source: ["shop"], "detail-type": ["order.made"] }],
      ["a value of an absent field", detail({ nobody: ["x"] })],
      ["a text for a number", detail({ total: ["850.5"] })],
      ["null for an absent field", detail({ nobody: [null] })],
      ["an inherited field", { constructor: [{ exists: true }] }],
      ["two fields that only different objects of a list match", detail({ lines: { sku: ["y"], n: [1] } })],
      ["a field below a text", { source: { name: ["shop"] } }],
      ["prefix", id({ prefix: "17" })],
      ["suffix", id({ suffix: "A" })],
      ["wildcard", id({ wildcard: "*-2*" })],
      ["anything-but", id({ "anything-but": ["A-17"] })],
      ["anything-but and a suffix", id({ "anything-but": { suffix: "17" } })],
      ["anything-but for an absent field", detail({ nobody: [{ "anything-but": "x" }] })],
      ["numeric", total({ numeric: ["<", 850.5] })],
      ["numeric for a text", id({ numeric: [">", 0] })],
      ["exists: true for an object", { detail: [{ exists: true }] }],
      ["exists", detail({ nobody: [{ exists: true }] })],
      ["exists: false for a present field", id({ exists: false })],
    ],
  ],
])("matchesPattern returns %j for a pattern with", (expected, rows) => {
  it.each(rows)("%s", (_, pattern) => {
    expect(matchesPattern(pattern, event)).toBe(expected);
  });
});

describe("two numbers, one in an event pattern and one in an event,", () => {
  it.each<[string, string, boolean]>([
    ["12345678901234567890", "12345678901234567890", true],
    ["12345678901234567890", "12345678901234567891", false],
    ["850.0", "850", true],
    ["850", "8.50e2", true],
    ["-0.0", "0", true],
    ["0.1", "0.10000000000000000001", true],
    ["0.10", "0.10000000000000000001", false],
    ["850", "-850", false],
    // JavaScript has rounded the first number, as it rounds the numbers of a definition.
    ["12345678901234567000", "12345678901234567890", true],
  ])("written as %s and %s, are equal: %s", (wanted, found, expected) => {
    const given = (text: string) => parseExact(`{"detail":{"n":${text}}}`) as MatchableObject;
    const pattern = parseExact(`{"detail":{"n":[${wanted}]}}`) as MatchableObject;
    expect(matchesPattern(pattern, given(found))).toBe(expected);
    const others = parseExact(`{"detail":{"n":[{"anything-but":[${wanted}]}]}}`) as MatchableObject;
    expect(matchesPattern(others, given(found))).toBe(!expected);
  });
});

it("a wildcard in an event pattern matches the same texts as the equivalent regular expression", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });
  const wildcards = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 6 });
  fc.assert(
    fc.property(wildcards, letters, (wildcard, text) => {
      const expected = new RegExp(`^${wildcard.replaceAll("*", ".*")}$`).test(text);
      expect(fitsWildcard(wildcard, text)).toBe(expected);
    }),
    { numRuns: 500 },
  );
});

it("an escaped star in a wildcard matches only a star, and an escaped backslash only a backslash", () => {
  expect(["a*b", "axb"].map((text) => fitsWildcard("a\\*b", text))).toEqual([true, false]);
  expect(["a\\xb", "a\\b"].map((text) => fitsWildcard("a\\\\*b", text))).toEqual([true, true]);
});

it.each([
  ["a*b*", undefined],
  ["a\\**", undefined],
  ["a\\\\*", undefined],
  ["a**", "must not have two * in a row"],
  ["\\\\**", "must not have two * in a row"],
  ["a\\b", "must have \\* or \\\\ where it has a \\"],
  ["a\\", "must have \\* or \\\\ where it has a \\"],
])("the wildcard %j in an event pattern has the problem %j (undefined if it is valid)", (wildcard, problem) => {
  expect(wildcardProblem(wildcard)).toBe(problem);
});
