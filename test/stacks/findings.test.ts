import { expect, it } from "vitest";
import { stacksOf } from "../support/stacks.ts";

it.each(["production", "ada"] as const)("leaves no finding of AwsSolutions unexplained on %s", async (stage) => {
  const { findings } = await stacksOf(stage);
  expect(findings).toEqual([]);
});
