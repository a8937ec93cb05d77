import { expect, it } from "vitest";
import { parameterName } from "../../../stacks/access/arns.ts";

it("names a parameter by stage, so that stages have keys of their own", () => {
  expect(parameterName("production", "E2B_API_KEY")).toBe("/nova/production/E2B_API_KEY");
  expect(parameterName("ada", "E2B_API_KEY")).toBe("/nova/ada/E2B_API_KEY");
});
