import { expect, it } from "vitest";
import { buildTemplates } from "../../../stacks/deploy/build-templates.ts";

it("the deployment builds the templates that a folder requires and the account lacks, one after the other", async () => {
  const calls: string[] = [];
  let working = 0;
  await buildTemplates(
    async (args) => {
      expect(working++).toBe(0);
      calls.push(args.join(" "));
      await Promise.resolve();
      working--;
      return "";
    },
    ["mail", "batch"],
  );
  expect(calls).toEqual(["template build mail --missing", "template build batch --missing"]);
});
