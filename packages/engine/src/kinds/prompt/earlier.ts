import type { Position } from "../../chain/position.ts";
import { sumOfSpendings } from "../../chain/spending.ts";
import { anew, earlierSteps } from "../../chain/steps/step-number.ts";
import type { StepText } from "../../chain/steps/step-record.ts";
import type { StoredStep, Turn } from "../../ports/chain.ts";
import type { Spending } from "../../ports/executions.ts";
import type { Ports } from "../../ports/index.ts";

/** What the attempts of a prompt node before this one have left at its link. */
export interface Earlier {
  /** Hashes of their steps, in order. */
  steps: string[];
  spent: Spending;
}

/** Costs a read only where there were any. */
export async function attemptsBefore({ chain }: Ports, { at, next: { turn } }: Position): Promise<Earlier> {
  return turn?.kept?.includes(anew) ? earlierOf(turn, await chain.steps(at)) : { steps: [], spent: sumOfSpendings([]) };
}

export function earlierOf(turn: Turn, stored: readonly StoredStep[]): Earlier {
  const steps = earlierSteps(turn, stored);
  // The record of an attempt itself costs nothing, and says nothing of it.
  const told = steps.map(({ text }) => JSON.parse(text) as StepText).filter((step) => "cost_usd" in step);
  return { steps: steps.map(({ hash }) => hash), spent: sumOfSpendings(told) };
}
