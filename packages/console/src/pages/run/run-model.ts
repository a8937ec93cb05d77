import type { ChainEntry, WholeExecution } from "@nova/client";
import { type Graph, prefixGraph } from "../../parts/graph/definition.ts";
import { buildVisits, createVisit, type NodeState, summarizeVisits, type Visit } from "./visits.ts";

export interface MapCounts {
  items: number;
  done: number;
  failed: number;
  /** Items whose outcome is reused. */
  reused: number;
}

/** The graph of a run, and the state of each node and edge. */
export interface RunModel {
  graph: Graph;
  visits: readonly Visit[];
  nodes: ReadonlyMap<string, NodeState>;
  /** How often the run traversed an edge, by `edgeKey`. */
  taken: ReadonlyMap<string, number>;
  maps: ReadonlyMap<string, MapCounts>;
  failed: Visit | undefined;
}

export function edgeKey(from: string, to: string): string {
  return `${from}>${to}`;
}

/** Builds the model of a run. `children` contains child runs by the node that they replace. */
export function buildRunModel(
  run: WholeExecution,
  entries: readonly ChainEntry[],
  graph: Graph,
  children: ReadonlyMap<string, RunModel> = new Map(),
  prefix = "",
): RunModel {
  const inside = Array.from(children.values());
  const own = addNextVisit(run, entries, buildVisits(run, entries, prefix), prefix);
  const visits = [...own, ...inside.flatMap((child) => child.visits)];
  const byNode = Map.groupBy(own, ({ node }) => node);
  const taken = new Map(inside.flatMap((child) => Array.from(child.taken)));
  const maps = new Map(inside.flatMap((child) => Array.from(child.maps)));
  countEntries(entries, graph, { taken, maps, prefix });
  return {
    graph: insertChildren(prefixGraph(graph, prefix), children),
    visits,
    nodes: new Map([
      ...inside.flatMap((child) => Array.from(child.nodes)),
      ...Array.from(byNode, ([node, some]) => [node, summarizeVisits(some)] as const),
    ]),
    taken,
    maps,
    failed: findFailure(run, own),
  };
}

/** Adds the next node of an open run, which has no turn yet. */
function addNextVisit(
  run: WholeExecution,
  entries: readonly ChainEntry[],
  visits: Visit[],
  prefix: string,
): readonly Visit[] {
  const last = entries.at(-1);
  if (run.ended_at !== null || run.at_work.count > 0 || !last?.path_taken || last.branches) return visits;
  const { scope, seq, path_taken: node_id, timestamp } = last;
  const place = { execution: run.execution_id, prefix };
  const next = { state: "next", from: Date.parse(timestamp), to: null } as const;
  return [...visits, createVisit(place, { node_id, scope, seq: seq + 1 }, next)];
}

function findFailure({ error }: WholeExecution, visits: readonly Visit[]): Visit | undefined {
  return error === null ? undefined : visits.findLast(({ id, state }) => id === error.node && state === "failed");
}

interface Found {
  taken: Map<string, number>;
  maps: Map<string, MapCounts>;
  prefix: string;
}

const joinEnd = ".join";

function countEntries(entries: readonly ChainEntry[], graph: Graph, found: Found): void {
  for (const entry of entries) {
    for (const to of listTargets(entry, graph)) {
      const key = edgeKey(found.prefix + readNodeId(entry), found.prefix + to);
      found.taken.set(key, (found.taken.get(key) ?? 0) + 1);
    }
    if (entry.branches) countMap(entry, found);
    for (const branch of entry.branches ?? []) countEntries(branch.entries, graph, found);
  }
}

/** Returns the id of a node; a join counts as its map. */
function readNodeId({ node_id, node_type }: ChainEntry): string {
  return node_type === "join" ? node_id.slice(0, -joinEnd.length) : node_id;
}

/**
 * Lists the next nodes of an entry. A fork leads to all branches. A join of parallel branches is no node of the graph.
 */
function listTargets({ node_id, node_type, path_taken, branches }: ChainEntry, graph: Graph): string[] {
  if (branches && !branches.some(({ branch }) => isItem(branch))) return branches.map(({ branch }) => branch);
  if (path_taken === null || path_taken === `${node_id}${joinEnd}`) return [];
  const from = node_type === "join" ? node_id.slice(0, -joinEnd.length) : node_id;
  const isEdge = node_type !== "join" || graph.nodes.some(({ id, body }) => id === from && body);
  return isEdge ? [path_taken] : [];
}

function isItem(branch: string): boolean {
  return /^\d+$/.test(branch);
}

function countMap({ node_id, branches = [] }: ChainEntry, { maps, prefix }: Found): void {
  if (!branches.some(({ branch }) => isItem(branch))) return;
  const ends = branches.flatMap(({ entries }) => entries.at(-1) ?? []).filter(({ path_taken }) => path_taken === null);
  const failed = ends.filter(({ status }) => status === "failed").length;
  const before = maps.get(prefix + node_id) ?? { items: 0, done: 0, failed: 0, reused: 0 };
  maps.set(prefix + node_id, {
    items: before.items + branches.length,
    done: before.done + ends.length,
    failed: before.failed + failed,
    reused: before.reused + ends.filter(({ reused_from }) => reused_from != null).length,
  });
}

function insertChildren(graph: Graph, children: ReadonlyMap<string, RunModel>): Graph {
  if (children.size === 0) return graph;
  const nodes = graph.nodes.map((node) => {
    const body = children.get(node.id)?.graph ?? (node.body && insertChildren(node.body, children));
    return { ...node, body };
  });
  return { ...graph, nodes };
}
