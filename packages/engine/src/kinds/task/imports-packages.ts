import { namesPackages, type Workflow } from "@nova/workflow";
import { tasksOf } from "./outer-reach.ts";

const known = new WeakMap<Workflow, boolean>();

/** Whether code of the workflow may import the template's packages; what a model has still to write may import any. */
export function mayImportPackages(workflow: Workflow): boolean {
  const before = known.get(workflow);
  if (before !== undefined) return before;
  const codes = Array.from(tasksOf(workflow.nodes), ({ executor }) => executor);
  const may =
    Object.values(workflow.lib).some(namesPackages) ||
    codes.some((one) => one.kind === "prompt" || (one.kind === "code" && namesPackages(one.code)));
  known.set(workflow, may);
  return may;
}
