import * as engine from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { LRUCache } from "lru-cache";
import type { Durations, NodeFigures, RunStats } from "../ports/clients.ts";

/**
 * Number of significant digits of a stored duration. Two digits keep a duration exact to 5 %. Any number of runs then
 * has at most a few hundred different durations.
 */
const digits = 2;

/** Rounds a duration to `significant` digits; by default, to as many digits as stored durations have. */
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

/**
 * Returns the duration that the fraction `share` of the runs did not exceed (nearest rank); null if there is no run.
 */
export function findPercentile(durations: Durations | null, share: number): number | null {
  const steps = Object.entries(durations ?? {}).map(([ms, count]) => ({ ms: Number(ms), count }));
  let left = Math.ceil(steps.reduce((sum, { count }) => sum + count, 0) * share);
  for (const { ms, count } of steps.sort((a, b) => a.ms - b.ms)) {
    left -= count;
    if (left <= 0) return ms;
  }
  return null;
}

type Reads = Pick<engine.Ports, "chain" | "workflows" | "blobs" | "generations">;

/** Caches costs of code, which never change. */
const known = new LRUCache<string, number>({ max: 10_000 });

/**
 * Returns the US dollars that a run of pinned code saved: the cost of writing that code. Returns 0 if the run used no
 * pinned code, or if NOVA finds no cost for it.
 */
export async function savingsOf(ports: Reads, head: engine.Head): Promise<number> {
  const { cache_hit, generation, workflow_id, workflow_version, node_id } = head;
  if (!cache_hit || generation === undefined) return 0;
  const name = `${workflow_id}#${workflow_version}#${node_id}#${generation}`;
  const usd = known.get(name) ?? (await costOf(ports, head, generation));
  if (usd !== undefined) known.set(name, usd);
  return usd ?? 0;
}

/**
 * Returns the US dollars that a model cost to write the code `id`; undefined if the code is not locked and not stored.
 */
async function costOf({ workflows, generations }: Reads, head: engine.Head, id: string): Promise<number | undefined> {
  const locked = (await workflows.get(head.workflow_id, head.workflow_version))?.workflow.lock?.[head.node_id];
  if (locked && engine.generationId(locked) === id) return locked.cost.usd;
  for (const client of [head.client, null]) {
    const kept = await generations.of(head.workflow_id, head.node_id, client);
    const found = kept.find((one) => engine.generationId(one) === id);
    if (found) return found.cost.usd;
  }
  return undefined;
}

export const noFigures: NodeFigures = { runs: 0, failed: {}, totalMs: 0, durations: {} };

/**
 * Returns the statistics of one run of a node. `savedUsd`: the US dollars that a run of pinned code saved, see
 * `savingsOf`.
 */
export function figuresOfRun({ head, spent }: engine.RunHead, savedUsd: number): NodeFigures {
  const { status, error_class = "NodeFailed", execution_time_ms, cache_hit } = head;
  const totalMs = engine.storableNumber(execution_time_ms);
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
    totalMs: engine.storableNumber(a.totalMs + b.totalMs),
    // The durations of `a` and `b` together are unknown (null) if one of them is unknown.
    durations: a.durations && b.durations && addCounts(a.durations, b.durations),
    ...defined({ spent: engine.addSpendings(a.spent, b.spent) }),
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

/** Types of entries that execute nothing, so the statistics leave them out. */
const uncountedTypes: readonly engine.Head["node_type"][] = ["start", "end", "join", "close"];

/** Computes the statistics of an ended run from its chain. A repeated computation gives the same result. */
export async function statsOf(ports: Reads, execution: engine.Execution): Promise<RunStats> {
  return shrinkToFit({ ...bareStatsOf(execution), nodes: await figuresOf(ports, execution.id) });
}

async function figuresOf(ports: Reads, execution: string): Promise<Record<string, NodeFigures>> {
  const nodes = new Map<string, NodeFigures>();
  for await (const run of engine.runHeads(ports, execution)) {
    const { node_id, node_type } = run.head;
    if (uncountedTypes.includes(node_type)) continue;
    const figures = figuresOfRun(run, await savingsOf(ports, run.head));
    nodes.set(node_id, mergeFigures(nodes.get(node_id) ?? noFigures, figures));
  }
  return Object.fromEntries(nodes);
}

/**
 * Limit in bytes for the JSON text of a run's statistics. DynamoDB allows 400 KB per item, and the item also holds
 * keys, names and copies for the index.
 */
const maxBytes = 200_000;

/** Returns the statistics of a run from its record alone. The statistics of its nodes are empty. */
export function bareStatsOf(execution: engine.Execution): RunStats {
  const { id, workflowId, version, client, status, endedAt = "", durationMs = 0, error } = execution;
  return {
    format: 1,
    execution: id,
    workflowId,
    version,
    client,
    endedAt,
    durationMs,
    status: status as engine.CloseStatus,
    ...(error && { failure: { node: error.node, class: error.class } }),
    nodes: {},
  };
}

/**
 * Shrinks statistics until they fit into `maxBytes`. It first rounds the durations further, and then removes them. If
 * the statistics still do not fit, it keeps only the nodes that ran first.
 */
export function shrinkToFit(stats: RunStats): RunStats {
  const changes: ((figures: NodeFigures) => NodeFigures)[] = [
    (figures) => ({ ...figures, durations: coarsenDurations(figures.durations) }),
    (figures) => ({ ...figures, durations: null }),
  ];
  let smaller = stats;
  for (const change of changes) {
    if (Buffer.byteLength(JSON.stringify(smaller)) <= maxBytes) break;
    const nodes = Object.entries(smaller.nodes).map(([id, figures]) => [id, change(figures)]);
    smaller = { ...smaller, nodes: Object.fromEntries(nodes) };
  }
  const nodes: RunStats["nodes"] = {};
  let bytes = 0;
  for (const [id, figures] of Object.entries(smaller.nodes)) {
    bytes += Buffer.byteLength(JSON.stringify([id, figures]));
    if (bytes <= maxBytes) nodes[id] = figures;
  }
  return { ...smaller, nodes };
}
