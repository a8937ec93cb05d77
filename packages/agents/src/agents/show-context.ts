import type { CodeResult } from "@nova/engine";
import { promptLimits, resultLimits, type Summary, summarise } from "../schema/summary.ts";
import type { NodeRun } from "./node-run.ts";

export function contextForModel({ task, executor }: NodeRun): Summary {
  return summarise(task.input, { ...promptLimits, samples: executor.samples }, task);
}

/** The node's input for the record of a step, shortened, because the chain already has the whole input. */
export function contextForRecord({ task }: NodeRun): Summary {
  return summarise(task.input, resultLimits, task);
}

const [maxKeys, longestKey] = [200, 200];

/** Keys of the node's context. */
export function contextKeys({ task: { input, mask } }: NodeRun): string[] {
  const keys = input.slice(0, maxKeys).map(({ key }) => mask(key).slice(0, longestKey));
  return input.length > keys.length ? [...keys, `... ${input.length - keys.length} more`] : keys;
}

export function packagesOf({ task, parts }: NodeRun): string[] {
  return [...parts.packages, ...task.version.workflow.requirements];
}

/** The values of the edges that leave a decision. */
export function edgeValues({ task: { node, edges } }: NodeRun): unknown[] | undefined {
  return node.type === "decision" ? edges.map(({ condition }) => condition ?? "default") : undefined;
}

type Success = CodeResult & { status: "success" };

/** The changes of code for the record of its step. */
export function changesForRecord({ task }: NodeRun, result: Success): Record<string, Summary> {
  const decision = result.set.find(({ key }) => key === "branch_decision");
  return {
    changes: summarise(result.set, resultLimits, task),
    deleted: result.delete,
    ...(task.node.type === "decision" && decision && { decision: summarise([decision], resultLimits, task) }),
  };
}

export function resultForModel({ task, executor }: NodeRun, result: Success): Summary {
  return summarise(result.set, { ...resultLimits, samples: executor.samples }, task);
}
