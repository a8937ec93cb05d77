import { expect, it } from "vitest";
import { windowOf } from "../../../packages/agents/src/model/catalog.ts";
import { isStrict } from "../../../packages/agents/src/model/strict-schema.ts";

const closed = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };

it.each([
  [closed, true],
  [{ ...closed, properties: { a: { type: "array", items: closed } } }, true],
  [{ ...closed, required: [] }, false],
  [{ ...closed, additionalProperties: true }, false],
  [{ type: "object" }, false],
  [{ ...closed, properties: { a: { type: "object", properties: {} } } }, false],
  [{ ...closed, $defs: { b: { type: "object", properties: {} } } }, false],
])("isStrict of %j is %s", (schema, expected) => {
  expect(isStrict(schema)).toBe(expected);
});

it("windowOf knows models and their snapshots, and returns null for others", () => {
  expect([windowOf("gpt-5-2025-08-07"), windowOf("llama")]).toEqual([400_000, null]);
});
