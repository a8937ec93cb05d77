import { expect, it } from "vitest";
import { modelChoice } from "../../../packages/workflow/src/authored/model.ts";

const Model = modelChoice("Model.");

it.each([
  ["gpt-5.1", { default: "gpt-5.1" }],
  [{ code_generator: "a" }, { code_generator: "a" }],
  [
    { input_analyzer: "a", data_analyzer: "b", output_validator: undefined },
    { input_analyzer: "a", data_analyzer: "b" },
  ],
])("reads %j by role", (written, choice) => {
  expect(Model.parse(written)).toStrictEqual(choice);
});

it.each([[""], [{}], [3], [null], [{ default: "a" }], [{ code_generator: 1 }]])("refuses %j", (written) => {
  expect(Model.safeParse(written).success).toBe(false);
});
