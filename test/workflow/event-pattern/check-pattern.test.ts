import { expect, it } from "vitest";
import { checkPattern } from "../../../packages/workflow/src/event-pattern/check-pattern.ts";
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

it("takes every value and every operator", () => {
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
])("refuses the operand of %j", (operation) => {
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
])("refuses %j", (pattern, problem) => {
  expect(problems(pattern)).toEqual([expect.stringContaining(problem)]);
});
