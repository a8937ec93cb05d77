import { expect, it } from "vitest";
import { stacksOf } from "../support/stacks.ts";

it.each(["production", "ada"] as const)("every finding of AwsSolutions on %s is explained", async (stage) => {
  const { findings } = await stacksOf(stage);
  expect(findings).toEqual([]);
});
