import { NovaError } from "@nova/engine";
import type { NodeRun } from "./node-run.ts";
import type { Deed } from "./step.ts";

/**
 * Refuses a request that could lead above the limit of the node, or of the whole run. `inCallUsd`: what the call under
 * way has cost so far; `estimatedUsd`: the most that its next request should.
 * @throws {NovaError} BudgetExceeded, which says what was spent.
 */
export function checkBudget({ task, executor, spent }: NodeRun, inCallUsd: number, estimatedUsd: number): void {
  const byNode = spent.usd + inCallUsd;
  const limits = [
    { of: `node "${task.node.id}"`, spentUsd: byNode, limitUsd: executor.maxCostUsd, place: "the node's" },
    {
      of: "this run",
      spentUsd: task.spentUsd + byNode,
      limitUsd: task.version.workflow.maxCostUsd,
      place: "the workflow's",
    },
  ];
  for (const { of, spentUsd, limitUsd, place } of limits) {
    if (limitUsd === undefined || spentUsd + estimatedUsd <= limitUsd) continue;
    const next = `the next request may cost ${dollars(estimatedUsd)}`;
    throw new NovaError(
      "BudgetExceeded",
      `${of} has spent ${dollars(spentUsd)} of ${dollars(limitUsd)} on models, and ${next} - raise ${place} limits.max_cost_usd, or choose a cheaper model`,
    );
  }
}

/** How a step ends that would ask a model when the node's time is up; null while there is some. */
export function timeSpent({ means, task }: NodeRun): Omit<Deed, "input_data"> | null {
  if (means.timeLeftMs() > 0) return null;
  return budgetRefusal(
    `node "${task.node.id}" has used up the time that it has in all - split its task into smaller nodes`,
  );
}

/** The end of a step for which a budget does not suffice. */
export function budgetRefusal(error_message: string): Omit<Deed, "input_data"> {
  return { status: "failed", error_message, output_data: { error_class: "BudgetExceeded" } };
}

/** A call may cost less than a thousandth of a cent. */
function dollars(usd: number): string {
  return `$${usd.toFixed(7).replace(/(\.\d\d.*?)0+$/, "$1")}`;
}
