import { describe, expect, it } from "vitest";
import { checkData } from "../../../packages/workflow/src/index.ts";

const form = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  required: ["reason"],
  additionalProperties: false,
  properties: { reason: { type: "string" }, level: { enum: [1, 2] } },
};

describe("data for a form", () => {
  it.each([
    ['{"reason": "ok", "level": 2}', []],
    ["{}", ['the data has no "reason"']],
    ['{"reason": 1}', ["data.reason must be string"]],
    ['{"reason": "ok", "more": 1}', ['the data must NOT have additional properties: "more"']],
    ['{"reason": "ok", "level": 3}', ["data.level must be equal to one of the allowed values: [1,2]"]],
    ["[]", ["the data must be object"]],
    ["{", ["it is not JSON"]],
  ])("%s has %j against it", async (text, problems) => {
    expect(await checkData(form, text)).toEqual(problems);
  });
});
