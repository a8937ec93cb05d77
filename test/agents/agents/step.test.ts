import { parseExact } from "@nova/engine";
import { expect, it } from "vitest";
import { maskValue } from "../../../packages/agents/src/agents/step.ts";
import { Placeholder } from "../../../packages/agents/src/schema/summary.ts";

const mask = (text: string) => text.replaceAll("4711", "***");

it.each([
  ["pin 4711", "pin ***"],
  [{ "key 4711": ["4711", null, true] }, { "key ***": ["***", null, true] }],
  [1471100, "1***00"],
  [{ n: 5 }, { n: 5 }],
  [parseExact("99994711999999999999"), "9999***999999999999"],
  [new Placeholder("string: 9 chars"), "<string: 9 chars>"],
])("masks %j", (value, expected) => {
  expect(maskValue(value, mask)).toEqual(expected);
});

it("leaves every digit of other numbers", () => {
  expect(JSON.stringify(maskValue(parseExact('{"n":12345678901234567890.10}'), mask))).toBe(
    '{"n":12345678901234567890.10}',
  );
});
