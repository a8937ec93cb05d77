import type { RunHead, Spending } from "@nova/engine";
import type { NodeFigures } from "../ports/stats.ts";
import { addDuration, mergeDurations } from "./durations.ts";

export const noFigures: NodeFigures = { runs: 0, failed: {}, totalMs: 0, durations: {} };

/** With one more run of the node; `savedUsd`: of a hit, what its code has cost to write. */
export function addRun(figures: NodeFigures, { head, spent }: RunHead, savedUsd: number): NodeFigures {
  const { status, error_class = "NodeFailed", execution_time_ms: ms, cache_hit } = head;
  return {
    ...figures,
    runs: figures.runs + 1,
    failed: status === "failed" ? counted(figures.failed, { [error_class]: 1 }) : figures.failed,
    totalMs: figures.totalMs + ms,
    durations: figures.durations && addDuration(figures.durations, ms),
    ...(spent && { spent: sumOf(figures.spent, spent) }),
    ...(cache_hit && { hits: (figures.hits ?? 0) + 1, savedUsd: dollars((figures.savedUsd ?? 0) + savedUsd) }),
  };
}

export function mergeFigures(a: NodeFigures, b: NodeFigures): NodeFigures {
  const hits = (a.hits ?? 0) + (b.hits ?? 0);
  return {
    runs: a.runs + b.runs,
    failed: counted(a.failed, b.failed),
    totalMs: a.totalMs + b.totalMs,
    durations: mergeDurations(a.durations, b.durations),
    ...((a.spent || b.spent) && { spent: sumOf(a.spent, b.spent) }),
    ...(hits > 0 && { hits, savedUsd: dollars((a.savedUsd ?? 0) + (b.savedUsd ?? 0)) }),
  };
}

const nothing: Spending = { cost_usd: 0, tokens_input: 0, tokens_cached: 0, tokens_output: 0 };

export function sumOf(a: Spending = nothing, b: Spending = nothing): Spending {
  return {
    cost_usd: dollars(a.cost_usd + b.cost_usd),
    tokens_input: a.tokens_input + b.tokens_input,
    tokens_cached: a.tokens_cached + b.tokens_cached,
    tokens_output: a.tokens_output + b.tokens_output,
  };
}

/** To the billionth: sums of fractions would else grow digits that mean nothing. */
export function dollars(usd: number): number {
  return Math.round(usd * 1e9) / 1e9;
}

export function counted(a: Record<string, number>, b: Record<string, number>): Record<string, number> {
  const sum = { ...a };
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
