import { expect, it } from "vitest";
import { shapeOf } from "../../../packages/agents/src/schema/summary.ts";

const blob = (type: string) => `{"$blob":{"sha256":"${"a".repeat(64)}","bytes":9000,"type":"${type}"}}`;

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
])("shapeOf reads the shape of %s", (json, expected) => {
  expect(shapeOf([{ key: "key", json }])).toEqual({ key: expected });
});

it("shapeOf treats __proto__ like any other key", () => {
  expect(Object.keys(shapeOf([{ key: "__proto__", json: '{"__proto__":1}' }]))).toEqual(["__proto__"]);
});
