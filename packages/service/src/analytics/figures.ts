import { addSpendings, generationId, type Head, type Ports, type RunHead, storableNumber } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { LRUCache } from "lru-cache";
import type { Durations, NodeFigures } from "../ports/stats.ts";

/** With two digits, a duration is known to 5 %, and any number of runs has at most some hundred different durations. */
const digits = 2;

/** Rounds a duration to significant digits, as it is stored. */
export function roundDuration(ms: number, significant = digits): number {
  return Number(ms.toPrecision(significant));
}

export function addDuration(durations: Durations, ms: number): Durations {
  return addCounts(durations, { [roundDuration(ms)]: 1 });
}

/** Rounds durations further, to one digit. */
export function coarsenDurations(durations: Durations | null): Durations | null {
  const steps = Object.entries(durations ?? {}).map(([ms, count]) => ({ [roundDuration(Number(ms), 1)]: count }));
  return durations && steps.reduce(addCounts, {});
}

/** The duration that 95 of 100 runs did not exceed (nearest rank); null without durations. */
export function percentile95(durations: Durations | null): number | null {
  const steps = Object.entries(durations ?? {}).map(([ms, count]) => ({ ms: Number(ms), count }));
  let left = Math.ceil(steps.reduce((sum, { count }) => sum + count, 0) * 0.95);
  for (const { ms, count } of steps.sort((a, b) => a.ms - b.ms)) {
    left -= count;
    if (left <= 0) return ms;
  }
  return null;
}

type Reads = Pick<Ports, "workflows" | "generations">;

/** Caches costs of code, which never change. */
const known = new LRUCache<string, number>({ max: 10_000 });

/** US dollars that a run of pinned code saved: the cost of writing the code. 0 if no model call was replaced. */
export async function savingsOf(ports: Reads, head: Head): Promise<number> {
  const { cache_hit, generation, workflow_id, workflow_version, node_id } = head;
  if (!cache_hit || generation === undefined) return 0;
  const name = `${workflow_id}#${workflow_version}#${node_id}#${generation}`;
  const usd = known.get(name) ?? (await costOf(ports, head, generation));
  if (usd !== undefined) known.set(name, usd);
  return usd ?? 0;
}

/** The cost of writing code; undefined if the code is not locked and not stored. */
async function costOf({ workflows, generations }: Reads, head: Head, id: string): Promise<number | undefined> {
  const locked = (await workflows.get(head.workflow_id, head.workflow_version))?.workflow.lock?.[head.node_id];
  if (locked && generationId(locked) === id) return locked.cost.usd;
  for (const client of [head.client, null]) {
    const kept = await generations.of(head.workflow_id, head.node_id, client);
    const found = kept.find((one) => generationId(one) === id);
    if (found) return found.cost.usd;
  }
  return undefined;
}

export const noFigures: NodeFigures = { runs: 0, failed: {}, totalMs: 0, durations: {} };

/** The statistics of one run of a node. `savedUsd`: for a cache hit, the cost of writing its code. */
export function figuresOfRun({ head, spent }: RunHead, savedUsd: number): NodeFigures {
  const { status, error_class = "NodeFailed", execution_time_ms, cache_hit } = head;
  const totalMs = storableNumber(execution_time_ms);
  const hasFailed = status === "failed";
  const failed = hasFailed ? { [error_class]: 1 } : {};
  const figures = { runs: 1, failed, totalMs, durations: addDuration({}, totalMs), ...defined({ spent }) };
  return { ...figures, ...(hasFailed && { failedMs: totalMs }), ...(cache_hit && { hits: 1, savedUsd }) };
}

export function mergeFigures(a: NodeFigures, b: NodeFigures): NodeFigures {
  const hits = (a.hits ?? 0) + (b.hits ?? 0);
  const failedMs = (a.failedMs ?? 0) + (b.failedMs ?? 0);
  return {
    runs: a.runs + b.runs,
    failed: addCounts(a.failed, b.failed),
    totalMs: storableNumber(a.totalMs + b.totalMs),
    // Null if either is unknown.
    durations: a.durations && b.durations && addCounts(a.durations, b.durations),
    ...defined({ spent: addSpendings(a.spent, b.spent) }),
    ...(failedMs > 0 && { failedMs }),
    ...(hits > 0 && { hits, savedUsd: roundUsd((a.savedUsd ?? 0) + (b.savedUsd ?? 0)) }),
  };
}

/** Rounds to 10^-9 dollars: sums of fractions would otherwise collect meaningless digits. */
export function roundUsd(usd: number): number {
  return Math.round(usd * 1e9) / 1e9;
}

function addCounts(a: Durations, b: Durations): Record<string, number> {
  const sum = { ...a };
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
