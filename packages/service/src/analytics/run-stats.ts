import { type CloseStatus, type Execution, type Head, type Ports, runHeads } from "@nova/engine";
import type { NodeFigures, RunStats } from "../ports/stats.ts";
import { coarser, figuresOfRun, mergeFigures, noFigures, savedBy } from "./figures.ts";

type Reads = Pick<Ports, "chain" | "workflows" | "blobs" | "generations">;

/** Begins, ends and joins run nothing. */
const notCounted: readonly Head["node_type"][] = ["start", "end", "join", "close"];

/** The figures of a run that has ended, from its chain: whoever counts again comes to the same. */
export async function statsOf(ports: Reads, execution: Execution): Promise<RunStats> {
  return fitted({ ...bareStatsOf(execution), nodes: await figuresOf(ports, execution.id) });
}

async function figuresOf(ports: Reads, execution: string): Promise<Record<string, NodeFigures>> {
  const nodes = new Map<string, NodeFigures>();
  for await (const run of runHeads(ports, execution)) {
    const { node_id, node_type } = run.head;
    if (notCounted.includes(node_type)) continue;
    nodes.set(
      node_id,
      mergeFigures(nodes.get(node_id) ?? noFigures, figuresOfRun(run, await savedBy(ports, run.head))),
    );
  }
  return Object.fromEntries(nodes);
}

/** DynamoDB: 400 KB an item. Keys, names and the copies of the index are in it too. */
const maxBytes = 200_000;

/** The figures of a run without those of its nodes, which say no more than its record. */
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
 * Of many nodes with many different durations: first these are kept more coarsely, then not at all. Of nodes that do not
 * fit even so, those that ran first are kept.
 */
export function fitted(stats: RunStats): RunStats {
  const changes: ((figures: NodeFigures) => NodeFigures)[] = [
    (figures) => ({ ...figures, durations: coarser(figures.durations) }),
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
