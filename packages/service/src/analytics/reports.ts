import { defined } from "@nova/workflow/defined";
import { reaches } from "../access/authenticate.ts";
import type { Durations, NodeFigures, RunStats } from "../ports/clients.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import { addDuration, findPercentile, mergeFigures, noFigures, roundUsd } from "./figures.ts";

type Runs = AsyncIterable<RunStats>;

/** Reports per workflow how its runs ended, and how long they took from start to end, including waits. */
export async function workflowReports(runs: Runs) {
  const none = { completed: 0, failed: 0, cancelled: 0, interrupted: 0 };
  const found = new Map<string, { ended: typeof none; totalMs: number; usd: number; durations: Durations }>();
  for await (const { workflowId, status, durationMs, nodes } of runs) {
    const one = found.get(workflowId) ?? { ended: { ...none }, totalMs: 0, usd: 0, durations: {} };
    one.ended[status] += 1;
    one.totalMs += durationMs;
    one.usd = roundUsd(one.usd + (sumNodes(nodes).spent?.cost_usd ?? 0));
    one.durations = addDuration(one.durations, durationMs);
    found.set(workflowId, one);
  }
  return sorted(found).map(([workflow, { ended, totalMs, usd: cost_usd, durations }]) => {
    const count = Object.values(ended).reduce((sum, each) => sum + each);
    const [success_rate, mean_ms] = [ended.completed / count, totalMs / count];
    const percentiles = { p50_ms: findPercentile(durations, 0.5), p95_ms: findPercentile(durations, 0.95) };
    return { workflow, runs: count, ...ended, success_rate, mean_ms, ...percentiles, cost_usd };
  });
}

/** Reports for each node of each workflow how many of its runs failed, how long its runs took, and what they cost. */
export async function nodeReports(runs: Runs) {
  return (await figuresByNode(runs)).map(({ workflow, node, figures }) => {
    const { runs: count, totalMs, failedMs = 0, spent, hits: cache_hits = 0 } = figures;
    const failed = Object.values(figures.failed).reduce((sum, each) => sum + each, 0);
    const succeeded = count - failed;
    const rates = {
      success_rate: succeeded / count,
      mean_ms: totalMs / count,
      mean_success_ms: succeeded > 0 ? (totalMs - failedMs) / succeeded : null,
    };
    const costs = { p95_ms: findPercentile(figures.durations, 0.95), cost_usd: spent?.cost_usd ?? 0, cache_hits };
    return { workflow, node, runs: count, failed, ...rates, ...costs };
  });
}

/** Counts failures by workflow, node and error class, the most frequent first. */
export async function errorReports(runs: Runs) {
  const found = (await figuresByNode(runs)).flatMap(({ workflow, node, figures }) =>
    Object.entries(figures.failed).map(([name, count]) => ({ workflow, node, class: name, count })),
  );
  return found.sort((a, b) => b.count - a.count);
}

async function figuresByNode(runs: Runs) {
  const found = new Map<string, { workflow: string; node: string; figures: NodeFigures }>();
  for await (const { workflowId: workflow, nodes } of runs) {
    for (const [node, figures] of Object.entries(nodes)) {
      const key = `${workflow}#${node}`;
      const before = found.get(key)?.figures ?? noFigures;
      found.set(key, { workflow, node, figures: mergeFigures(before, figures) });
    }
  }
  return sorted(found).map(([, one]) => one);
}

const unspent = { tokens_input: 0, tokens_cached: 0, tokens_output: 0, cost_usd: 0 };

/**
 * Reports costs by workflow and by the day (UTC) on which the runs ended. Leaves out days without model calls and
 * without runs of pinned code.
 */
export async function costReports(runs: Runs) {
  const found = new Map<string, NodeFigures>();
  for await (const { workflowId, endedAt, nodes } of runs) {
    const figures = sumNodes(nodes);
    if (!figures.spent && !figures.hits) continue;
    const key = `${endedAt.slice(0, "2026-11-22".length)}#${workflowId}`;
    found.set(key, mergeFigures(found.get(key) ?? noFigures, figures));
  }
  return sorted(found).map(([key, { spent, hits: cache_hits = 0, savedUsd: saved_usd = 0 }]) => {
    const [day, workflow] = key.split("#");
    return { day, workflow, ...unspent, ...spent, cache_hits, saved_usd };
  });
}

/**
 * Returns the sum of the statistics of all nodes. The sum has no durations, because a distribution over different nodes
 * has no meaning.
 */
function sumNodes(nodes: Record<string, NodeFigures>): NodeFigures {
  return { ...Object.values(nodes).reduce(mergeFigures, noFigures), durations: null };
}

function sorted<T>(found: ReadonlyMap<string, T>): [key: string, value: T][] {
  return Array.from(found).sort(([a], [b]) => (a < b ? -1 : 1));
}

interface AnalyticsQuery {
  /** ISO 8601: selects runs that ended between `from` and `to`, both included. */
  from: string;
  to: string;
  workflow?: string;
  client?: string;
}

/**
 * Yields the statistics of runs that the caller may see. For a client that the caller may not see it yields none, as
 * for an unknown client.
 */
export async function* statsWithin(
  ports: Pick<ServicePorts, "stats" | "workflows">,
  by: Principal,
  { from, to, workflow, client = by.client ?? undefined }: AnalyticsQuery,
): AsyncGenerator<RunStats> {
  if (client !== undefined && !reaches(by, client)) return;
  // DynamoDB refuses a range whose end is before its start.
  if (to < from) return;
  if (workflow !== undefined) yield* ports.stats.read({ from, to, workflow, ...defined({ client }) });
  else if (client !== undefined) yield* ports.stats.read({ from, to, client });
  else for await (const id of ports.workflows.ids()) yield* ports.stats.read({ from, to, workflow: id });
}
