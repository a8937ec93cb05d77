import { parseWorkflow, readWorkflowSource } from "@nova/workflow";
import { expect, it } from "vitest";

it.each(["hello", "invoice"])("the example %s has no findings", async (name) => {
  const folder = new URL(`../../packages/examples/${name}`, import.meta.url).pathname;
  const { workflow, findings } = parseWorkflow(await readWorkflowSource(folder));
  expect(findings).toEqual([]);
  expect(workflow?.id).toBe(name);
});
