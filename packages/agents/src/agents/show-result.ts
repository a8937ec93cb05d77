import type { CodeResult } from "@nova/engine";
import { resultLimits, type Summary, summarise } from "../schema/summary.ts";
import type { NodeRun } from "./node-run.ts";

type Success = CodeResult & { status: "success" };

/** What code did, as its step keeps it. */
export function changesForRecord({ task }: NodeRun, result: Success): Record<string, Summary> {
  const decision = result.set.find(({ key }) => key === "branch_decision");
  return {
    changes: summarise(result.set, resultLimits, task),
    deleted: result.delete,
    ...(task.node.type === "decision" && decision && { decision: summarise([decision], resultLimits, task) }),
  };
}

/** What code set, as models see it. */
export function resultForModel({ task, executor }: NodeRun, result: Success): Summary {
  return summarise(result.set, { ...resultLimits, samples: executor.samples }, task);
}
