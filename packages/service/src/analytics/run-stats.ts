import { type CloseStatus, type Execution, type Head, type Ports, runHeads } from "@nova/engine";
import type { NodeFigures, RunStats } from "../ports/stats.ts";
import { coarsenDurations, figuresOfRun, mergeFigures, noFigures, savingsOf } from "./figures.ts";

type Reads = Pick<Ports, "chain" | "workflows" | "blobs" | "generations">;

/** Types of entries that execute nothing. */
const uncountedTypes: readonly Head["node_type"][] = ["start", "end", "join", "close"];

/** Computes the statistics of an ended run from its chain. Every computation gives the same result. */
export async function statsOf(ports: Reads, execution: Execution): Promise<RunStats> {
  return shrinkToFit({ ...bareStatsOf(execution), nodes: await figuresOf(ports, execution.id) });
}

async function figuresOf(ports: Reads, execution: string): Promise<Record<string, NodeFigures>> {
  const nodes = new Map<string, NodeFigures>();
  for await (const run of runHeads(ports, execution)) {
    const { node_id, node_type } = run.head;
    if (uncountedTypes.includes(node_type)) continue;
    nodes.set(
      node_id,
      mergeFigures(nodes.get(node_id) ?? noFigures, figuresOfRun(run, await savingsOf(ports, run.head))),
    );
  }
  return Object.fromEntries(nodes);
}

/** Limit for the JSON text. DynamoDB allows 400 KB per item, which also holds keys, names and copies for the index. */
const maxBytes = 200_000;

/** The statistics of a run without its nodes, from its record alone. */
export function bareStatsOf(execution: Execution): RunStats {
  const { id, workflowId, version, client, status, endedAt = "", durationMs = 0, error } = execution;
  return {
    format: 1,
    execution: id,
    workflowId,
    version,
    client,
    endedAt,
    durationMs,
    status: status as CloseStatus,
    ...(error && { failure: { node: error.node, class: error.class } }),
    nodes: {},
  };
}

/**
 * Shrinks statistics until they fit: first with rounder durations, then without durations. If they still do not fit, it
 * keeps only the nodes that ran first.
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
