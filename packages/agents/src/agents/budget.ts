import { type MonthBudget, NovaError } from "@nova/engine";
import type { ModelRun } from "./model-run.ts";
import type { StepResult } from "./step.ts";

/** Reads the costs of other branches and of the client's month, against which the next call is checked. */
export async function readBudgets({ task, means }: ModelRun): Promise<Pick<CallCost, "besideUsd" | "month">> {
  // The costs of other branches and items matter only if the whole run has a limit.
  const beside = task.version.workflow.maxCostUsd === undefined ? 0 : means.spentBesideUsd();
  const [besideUsd, month] = await Promise.all([beside, means.monthBudget()]);
  return { besideUsd, month };
}

/** True if the node, the whole run or the client's month has a limit. */
export function hasBudget({ task, executor }: ModelRun, { month }: Pick<CallCost, "month">): boolean {
  return [executor.maxCostUsd, task.version.workflow.maxCostUsd, month?.limitUsd].some((limit) => limit !== undefined);
}

export interface CallCost {
  /** Costs of other branches and items when the call started. */
  besideUsd: number;
  /** Costs of the client's month when the call started; null if they are not limited. */
  month: MonthBudget | null;
  /** Costs of this call's earlier requests, which no record contains yet. */
  inCallUsd: number;
  /** Upper estimate of the next request's cost. */
  estimatedUsd: number;
}

/**
 * Refuses a request that could exceed the limit of the node, of the whole run, or of the client's month.
 * @throws {NovaError} BudgetExceeded, with the amount spent.
 */
export function checkBudget(
  { task, executor, spent }: ModelRun,
  { besideUsd, month, inCallUsd, estimatedUsd }: CallCost,
): void {
  const byNode = task.earlierUsd + spent.usd + inCallUsd;
  const byRun = task.spentUsd + besideUsd + byNode;
  const byClient = (month?.spentUsd ?? 0) + inCallUsd;
  const limits = [
    [`node "${task.node.id}"`, byNode, executor.maxCostUsd, "the node's limits"],
    ["this run", byRun, task.version.workflow.maxCostUsd, "the workflow's limits"],
    [`client "${task.client}"`, byClient, month?.limitUsd, "the client's quotas"],
  ] as const;
  for (const [of, spentUsd, limitUsd, raise] of limits) {
    if (limitUsd === undefined || spentUsd + estimatedUsd <= limitUsd) continue;
    const spending = `${of} has spent ${dollars(spentUsd)} of ${dollars(limitUsd)} on models`;
    const advice = `raise ${raise}.max_cost_usd, or choose a cheaper model`;
    const next = `the next request may cost ${dollars(estimatedUsd)}`;
    throw new NovaError("BudgetExceeded", `${spending}, and ${next} - ${advice}`);
  }
}

/** The result of a step that would ask a model after the node's time is up; null while there is time. */
export function refuseIfTimeIsUp({ means, task }: ModelRun): Omit<StepResult, "input_data"> | null {
  if (means.timeLeftMs() > 0) return null;
  const advice = "split its task into smaller nodes";
  return budgetRefusal(`node "${task.node.id}" has used up the time that it has in all - ${advice}`);
}

/** The result of a step whose budget is too small. */
export function budgetRefusal(error_message: string): Omit<StepResult, "input_data"> {
  return { status: "failed", error_message, output_data: { error_class: "BudgetExceeded" } };
}

/** Turns a BudgetExceeded error into the result of its step; null for other errors. */
export function asBudgetRefusal(error: unknown): Omit<StepResult, "input_data"> | null {
  return error instanceof NovaError && error.name === "BudgetExceeded" ? budgetRefusal(error.message) : null;
}

/** Formats an amount with up to seven digits, because a call may cost less than a thousandth of a cent. */
function dollars(usd: number): string {
  return `$${usd.toFixed(7).replace(/(\.\d\d.*?)0+$/, "$1")}`;
}
