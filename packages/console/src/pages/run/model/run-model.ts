import type { ChainEntry, WholeExecution } from "@nova/client";
import type { Graph } from "../../../parts/graph/definition.ts";
import { type NodeState, stateOf, type Visit, visitsOf } from "./visits.ts";

export interface MapCounts {
  items: number;
  done: number;
  failed: number;
}

/** What the page knows of a run: its graph, and what happened at each node and edge. */
export interface RunModel {
  graph: Graph;
  visits: readonly Visit[];
  nodes: ReadonlyMap<string, NodeState>;
  /** How often an edge was taken, by `from>to`. */
  taken: ReadonlyMap<string, number>;
  maps: ReadonlyMap<string, MapCounts>;
  failed: Visit | undefined;
}

export function edgeKey(from: string, to: string): string {
  return `${from}>${to}`;
}

export function runModel(run: WholeExecution, entries: readonly ChainEntry[], graph: Graph): RunModel {
  const visits = withNext(run, entries, visitsOf(run, entries));
  const byNode = Map.groupBy(visits, ({ node }) => node);
  const nodes = new Map(Array.from(byNode, ([node, own]) => [node, stateOf(own)]));
  const taken = new Map<string, number>();
  const maps = new Map<string, MapCounts>();
  walk(entries, graph, { taken, maps });
  return { graph, visits, nodes, taken, maps, failed: failureIn(run, visits) };
}

/** What the last entry of an open run names, before it has its turn. */
function withNext(run: WholeExecution, entries: readonly ChainEntry[], visits: Visit[]): readonly Visit[] {
  const last = entries.at(-1);
  if (run.ended_at !== null || run.at_work.count > 0 || !last?.path_taken || last.branches) return visits;
  const { scope, seq, path_taken: node, timestamp } = last;
  const from = Date.parse(timestamp);
  const key = `${scope}#${seq + 1}`;
  return [
    ...visits,
    { key, node, scope, seq: seq + 1, state: "next", from, to: null, entry: undefined, work: undefined },
  ];
}

function failureIn({ error }: WholeExecution, visits: readonly Visit[]): Visit | undefined {
  return error === null ? undefined : visits.findLast(({ node, state }) => node === error.node && state === "failed");
}

interface Found {
  taken: Map<string, number>;
  maps: Map<string, MapCounts>;
}

const joinEnd = ".join";

function walk(entries: readonly ChainEntry[], graph: Graph, found: Found): void {
  for (const entry of entries) {
    for (const to of waysOf(entry, graph)) {
      const key = edgeKey(nodeOf(entry), to);
      found.taken.set(key, (found.taken.get(key) ?? 0) + 1);
    }
    if (entry.branches) countMap(entry, found.maps);
    for (const branch of entry.branches ?? []) walk(branch.entries, graph, found);
  }
}

/** A join stands for the map that it ends. */
function nodeOf({ node_id, node_type }: ChainEntry): string {
  return node_type === "join" ? node_id.slice(0, -joinEnd.length) : node_id;
}

/** A fork takes all of its edges at once; a parallel join is no node of the graph. */
function waysOf({ node_id, node_type, path_taken, branches }: ChainEntry, graph: Graph): string[] {
  if (branches && !branches.some(({ branch }) => isItem(branch))) return branches.map(({ branch }) => branch);
  if (path_taken === null || path_taken === `${node_id}${joinEnd}`) return [];
  const from = node_type === "join" ? node_id.slice(0, -joinEnd.length) : node_id;
  const isEdge = node_type !== "join" || graph.nodes.some(({ id, body }) => id === from && body);
  return isEdge ? [path_taken] : [];
}

function isItem(branch: string): boolean {
  return /^\d+$/.test(branch);
}

function countMap({ node_id, branches = [] }: ChainEntry, maps: Map<string, MapCounts>): void {
  if (!branches.some(({ branch }) => isItem(branch))) return;
  const ends = branches.flatMap(({ entries }) => entries.at(-1) ?? []).filter(({ path_taken }) => path_taken === null);
  const failed = ends.filter(({ status }) => status === "failed").length;
  const before = maps.get(node_id) ?? { items: 0, done: 0, failed: 0 };
  maps.set(node_id, {
    items: before.items + branches.length,
    done: before.done + ends.length,
    failed: before.failed + failed,
  });
}
