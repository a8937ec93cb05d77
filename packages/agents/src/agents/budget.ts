import { type MonthBudget, NovaError } from "@nova/engine";
import type { ModelRun } from "./model-run.ts";
import type { Deed } from "./step.ts";

/** What calls of this node are measured against from now on. */
export async function budgetNow({ task, means }: ModelRun): Promise<Pick<CallCost, "besideUsd" | "month">> {
  // Nobody is asked what other branches and items have spent where the whole run has no limit.
  const beside = task.version.workflow.maxCostUsd === undefined ? 0 : means.spentBesideUsd();
  const [besideUsd, month] = await Promise.all([beside, means.monthBudget()]);
  return { besideUsd, month };
}

export interface CallCost {
  /** Of other branches and items, when the call began. */
  besideUsd: number;
  /** Of the client, when the call began; null where nobody limits it. */
  month: MonthBudget | null;
  /** Of the requests of this call so far: nothing has recorded them yet. */
  inCallUsd: number;
  /** The most that its next request should cost. */
  estimatedUsd: number;
}

/**
 * Refuses a request that could lead above the limit of the node, of the whole run, or of the client's month.
 * @throws {NovaError} BudgetExceeded, which says what was spent.
 */
export function checkBudget(
  { task, executor, spent }: ModelRun,
  { besideUsd, month, inCallUsd, estimatedUsd }: CallCost,
): void {
  const byNode = task.earlierUsd + spent.usd + inCallUsd;
  const limits = [
    { of: `node "${task.node.id}"`, spentUsd: byNode, limitUsd: executor.maxCostUsd, raise: "the node's limits" },
    {
      of: "this run",
      spentUsd: task.spentUsd + besideUsd + byNode,
      limitUsd: task.version.workflow.maxCostUsd,
      raise: "the workflow's limits",
    },
    {
      of: `client "${task.client}"`,
      spentUsd: (month?.spentUsd ?? 0) + inCallUsd,
      limitUsd: month?.limitUsd,
      raise: "the client's quotas",
    },
  ];
  for (const { of, spentUsd, limitUsd, raise } of limits) {
    if (limitUsd === undefined || spentUsd + estimatedUsd <= limitUsd) continue;
    const next = `the next request may cost ${dollars(estimatedUsd)}`;
    throw new NovaError(
      "BudgetExceeded",
      `${of} has spent ${dollars(spentUsd)} of ${dollars(limitUsd)} on models, and ${next} - raise ${raise}.max_cost_usd, or choose a cheaper model`,
    );
  }
}

/** How a step ends that would ask a model when the node's time is up; null while there is some. */
export function timeSpent({ means, task }: ModelRun): Omit<Deed, "input_data"> | null {
  if (means.timeLeftMs() > 0) return null;
  return budgetRefusal(
    `node "${task.node.id}" has used up the time that it has in all - split its task into smaller nodes`,
  );
}

/** The end of a step for which a budget does not suffice. */
export function budgetRefusal(error_message: string): Omit<Deed, "input_data"> {
  return { status: "failed", error_message, output_data: { error_class: "BudgetExceeded" } };
}

/** The same where a call was refused for it; null for every other error. */
export function budgetRefused(error: unknown): Omit<Deed, "input_data"> | null {
  return error instanceof NovaError && error.name === "BudgetExceeded" ? budgetRefusal(error.message) : null;
}

/** A call may cost less than a thousandth of a cent. */
function dollars(usd: number): string {
  return `$${usd.toFixed(7).replace(/(\.\d\d.*?)0+$/, "$1")}`;
}
