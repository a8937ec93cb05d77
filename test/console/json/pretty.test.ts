import fc from "fast-check";
import { expect, it } from "vitest";
import { formatJson } from "../../../packages/console/src/json/raw.ts";

it("formats one member per line, and keeps the text of numbers", () => {
  expect(formatJson('{"vat":850.0,"ids":[12345678901234567890,[]],"none":{}}')).toBe(
    '{\n  "vat": 850.0,\n  "ids": [\n    12345678901234567890,\n    []\n  ],\n  "none": {}\n}',
  );
});

it("keeps the meaning of the JSON, and is idempotent", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const pretty = formatJson(text);
      expect(JSON.parse(pretty)).toEqual(JSON.parse(text));
      expect(formatJson(pretty)).toBe(pretty);
    }),
  );
});
