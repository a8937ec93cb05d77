import type { CloseStatus } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { reaches } from "../access/authenticate.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Durations, NodeFigures, RunStats } from "../ports/stats.ts";
import { addDuration, dollars, mergeFigures, noFigures, percentile95 } from "./figures.ts";

type Runs = AsyncIterable<RunStats>;

export interface WorkflowReport {
  workflow: string;
  runs: number;
  byStatus: Record<CloseStatus, number>;
  totalMs: number;
  p95Ms: number | null;
  costUsd: number;
}

export interface NodeReport extends NodeFigures {
  workflow: string;
  node: string;
  p95Ms: number | null;
}

export interface ErrorReport {
  workflow: string;
  node: string;
  class: string;
  count: number;
}

export interface CostReport {
  /** `2026-11-22`, UTC: the day on which the runs ended. */
  day: string;
  workflow: string;
  figures: NodeFigures;
}

/** By workflow: how its runs ended, and how long they took from their start to their end, waits included. */
export async function workflowReports(runs: Runs): Promise<WorkflowReport[]> {
  const found = new Map<string, Omit<WorkflowReport, "p95Ms"> & { durations: Durations }>();
  for await (const { workflowId: workflow, status, durationMs, nodes } of runs) {
    const byStatus = { completed: 0, failed: 0, cancelled: 0, interrupted: 0 };
    const one = found.get(workflow) ?? { workflow, runs: 0, byStatus, totalMs: 0, costUsd: 0, durations: {} };
    one.runs += 1;
    one.byStatus[status] += 1;
    one.totalMs += durationMs;
    one.costUsd = dollars(one.costUsd + (allOf(nodes).spent?.cost_usd ?? 0));
    one.durations = addDuration(one.durations, durationMs);
    found.set(workflow, one);
  }
  return sorted(found).map(({ durations, ...report }) => ({ ...report, p95Ms: percentile95(durations) }));
}

/** By workflow and node. */
export async function nodeReports(runs: Runs): Promise<NodeReport[]> {
  const found = new Map<string, { workflow: string; node: string; figures: NodeFigures }>();
  for await (const { workflowId: workflow, nodes } of runs) {
    for (const [node, figures] of Object.entries(nodes)) {
      const key = `${workflow}#${node}`;
      const before = found.get(key)?.figures ?? noFigures;
      found.set(key, { workflow, node, figures: mergeFigures(before, figures) });
    }
  }
  return sorted(found).map(({ figures, ...named }) => ({
    ...named,
    ...figures,
    p95Ms: percentile95(figures.durations),
  }));
}

/** By workflow, node and class, the most frequent first. */
export async function errorReports(runs: Runs): Promise<ErrorReport[]> {
  const reports = await nodeReports(runs);
  return reports
    .flatMap(({ workflow, node, failed }) =>
      Object.entries(failed).map(([name, count]) => ({ workflow, node, class: name, count })),
    )
    .sort((a, b) => b.count - a.count);
}

/** By day and workflow, of the days on which models were asked or written code was used again. */
export async function costReports(runs: Runs): Promise<CostReport[]> {
  const found = new Map<string, CostReport>();
  for await (const { workflowId: workflow, endedAt, nodes } of runs) {
    const figures = allOf(nodes);
    if (!figures.spent && !figures.hits) continue;
    const day = endedAt.slice(0, "2026-11-22".length);
    const key = `${day}#${workflow}`;
    found.set(key, { day, workflow, figures: mergeFigures(found.get(key)?.figures ?? noFigures, figures) });
  }
  return sorted(found);
}

/** Of all nodes together; how long they took is of no use in a sum. */
function allOf(nodes: Record<string, NodeFigures>): NodeFigures {
  return { ...Object.values(nodes).reduce(mergeFigures, noFigures), durations: null };
}

function sorted<T>(found: ReadonlyMap<string, T>): T[] {
  return Array.from(found)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, report]) => report);
}

export interface AnalyticsQuery {
  /** ISO 8601: runs that ended then or later, then or earlier. */
  from: string;
  to: string;
  workflow?: string;
  client?: string;
}

/** Figures of the runs within reach; of a client that is out of reach there are none, as of one that does not exist. */
export async function* statsWithin(
  ports: Pick<ServicePorts, "stats" | "workflows">,
  by: Principal,
  { from, to, workflow, client = by.client ?? undefined }: AnalyticsQuery,
): AsyncGenerator<RunStats> {
  if (client !== undefined && !reaches(by, client)) return;
  // DynamoDB refuses a range that ends before it begins.
  if (to < from) return;
  if (workflow !== undefined) yield* ports.stats.read({ from, to, workflow, ...defined({ client }) });
  else if (client !== undefined) yield* ports.stats.read({ from, to, client });
  else for await (const id of ports.workflows.ids()) yield* ports.stats.read({ from, to, workflow: id });
}
