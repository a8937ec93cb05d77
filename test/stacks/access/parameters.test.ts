import { expect, it } from "vitest";
import { parameterName } from "../../../stacks/access/arns.ts";

it("a parameter's name contains the stage, so that each stage has its own keys", () => {
  expect(parameterName("production", "E2B_API_KEY")).toBe("/nova/production/E2B_API_KEY");
  expect(parameterName("ada", "E2B_API_KEY")).toBe("/nova/ada/E2B_API_KEY");
});
