import { parseExact } from "@nova/engine";
import { describe, expect, it } from "vitest";
import type { ExactObject } from "../../../packages/cli/src/input/context.ts";
import { type Expression, fits, formProblem, hasForm } from "../../../packages/cli/src/tests/values.ts";

const fitsIn = (expected: string, value: string, later: Expression[] = []) =>
  fits(parseExact(expected), parseExact(value), later);

describe("an expected value in a test", () => {
  it.each([
    ["850.0", "850.0", true],
    ["850.0", "850", false],
    ['{"a": 1, "b": [null]}', '{"b": [null], "a": 1}', true],
    ['{"a": 1}', '{"a": 1, "b": 2}', false],
    ["[1, 2]", "[1]", false],
    ["[]", "{}", false],
    ['{"$any": true}', '{"whatever": [1]}', true],
    ['{"$approx": 850, "within": 0.01}', "850.01", true],
    ['{"$approx": 850, "within": 0.01}', "850.02", false],
    ['{"$approx": 850, "within": 0.01}', '"850"', false],
    ['{"$schema": {"type": "string", "pattern": "^inv-"}}', '"inv-7"', true],
    ['{"$schema": {"type": "string", "pattern": "^inv-"}}', '"7"', false],
    ['{"$schema": {"type": "array", "items": {"type": "number"}, "minItems": 1}}', "[1.5]", true],
    ['[{"id": {"$any": true}, "n": 1}]', '[{"id": "x", "n": 1}]', true],
    ['[{"id": {"$any": true}, "n": 1}]', '[{"id": "x", "n": 2}]', false],
    ['{"$$any": true}', '{"$$any": true}', true],
    ['{"$$any": true}', "1", false],
    ['{"$file": "ab"}', '{"$file": "ab"}', true],
    ['{"$file": "ab"}', '{"$file": "cd"}', false],
  ])("that is written as %s matches the actual value %s: %s", async (expected, value, isFit) => {
    expect(await fitsIn(expected, value)).toBe(isFit);
  });

  it("that contains a Python expression is accepted at first, and the expression is returned for a later check in a sandbox", async () => {
    const later: Expression[] = [];
    expect(await fitsIn('{"n": {"$python": "value > 0"}}', '{"n": 1.50}', later)).toBe(true);
    expect(later).toEqual([{ python: "value > 0", value: parseExact("1.50") }]);
  });
});

it.each([
  [
    '{"$aprox": 850}',
    /^there is no form "\$aprox" - use one of \$any, \$approx, \$schema, \$python, \$file, \$text and/,
  ],
  ['{"$approx": 850}', /^write \{"\$approx": 850, "within": 0.01\}$/],
  ['{"$approx": "850", "within": 1}', /^write/],
  ['{"$approx": 850, "within": 1, "below": 2}', /^the form \$approx has no "below"/],
  ['{"$schema": {"type": "nunber"}}', /^its schema: /],
  ['{"$schema": {"minimun": 1}}', /^its schema: /],
  ['{"$schema": []}', /^write/],
  ['{"$python": " "}', /^write/],
  ['{"$any": false}', /^write/],
])("formProblem explains the mistake in %s", (form, sentence) => {
  expect(formProblem(parseExact(form) as ExactObject)).toMatch(sentence);
});

it("hasForm finds an expected-value form such as `$any` at any depth, and ignores data with an escaped `$$`", () => {
  expect(hasForm(parseExact('{"a": [{"b": {"$any": true}}]}'))).toBe(true);
  expect(hasForm(parseExact('{"a": [{"$file": "ab"}, {"$$any": true}, 1]}'))).toBe(false);
});
