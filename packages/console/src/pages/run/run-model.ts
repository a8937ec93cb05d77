import { type ChainEntry, sumTimes, type Times, type WholeExecution } from "@nova/client";
import { type Graph, prefixGraph } from "../../parts/graph/definition.ts";

/**
 * The state of a visit. `next`: the run continues with this node, but the node has not started yet. `cancelled`: the
 * run was closed while the node was at work.
 */
type VisitState = "success" | "failed" | "cancelled" | "running" | "waiting" | "next";

/** One visit of a node: one time that the run reaches the node. */
export interface Visit {
  /**
   * The prefix of the enclosing runs, then the scope and the number of the visit's entry. The key is unique on the
   * page.
   */
  key: string;
  /** The id of the node in the graph: the prefix of the enclosing runs, then `id`. */
  node: string;
  id: string;
  /** The id of the run that contains the visit: the run of the page, or a child run. */
  execution: string;
  scope: string;
  seq: number;
  state: VisitState;
  /**
   * The start of the visit in milliseconds since 1970: the end of the previous entry. `to` is the end of the visit's
   * own entry.
   */
  from: number;
  to: number | null;
  entry: ChainEntry | undefined;
  /**
   * For a map whose items have ended: the entry of the join, which has the results of the items. A map and its join are
   * one visit.
   */
  join: ChainEntry | undefined;
  work: Work | undefined;
}

export type Work = WholeExecution["at_work"]["nodes"][number];

/** Returns the item number of the innermost map in a scope; undefined outside maps. */
export function findItem(scope: string): number | undefined {
  const items = Array.from(scope.matchAll(/@\d+\.(\d+)(?=\/|$)/g), ([, item]) => Number(item));
  return items.at(-1);
}

/** Returns the outermost map of a scope. */
export function findMap(scope: string): string | undefined {
  return /\/([^/@]+)@\d+\.\d+(?=\/|$)/.exec(scope)?.[1];
}

/**
 * Builds the visits of a run in order. `prefix` contains the ids of the nodes that run the enclosing runs, each with a
 * slash after it.
 */
function buildVisits(run: WholeExecution, entries: readonly ChainEntry[], prefix: string): Visit[] {
  const isOpen = run.ended_at === null;
  const place = { execution: run.execution_id, prefix, isOpen };
  const visits = listVisits(entries, Date.parse(run.started_at), place);
  const keys = new Set(visits.map(({ key }) => key));
  const atWork = run.at_work.nodes.map((work): Visit => {
    const state = work.waits_for ? "waiting" : "running";
    return createVisit(place, work, { state, from: Date.parse(work.since), to: null, work });
  });
  const all = [...visits, ...atWork.filter(({ key }) => !keys.has(key))];
  const last = entries.at(-1);
  if (!isOpen || run.at_work.count > 0 || !last?.path_taken || last.branches) return all;
  // No node of the open run is running or waiting, so its next node starts soon.
  const { scope, seq, path_taken: node_id, timestamp } = last;
  const next = { state: "next", from: Date.parse(timestamp), to: null } as const;
  return [...all, createVisit(place, { node_id, scope, seq: seq + 1 }, next)];
}

interface VisitOrigin {
  execution: string;
  prefix: string;
  /** Whether the run has not ended. */
  isOpen: boolean;
}

type VisitDetails = Pick<Visit, "state" | "from" | "to"> & Partial<Pick<Visit, "entry" | "join" | "work">>;

function createVisit(
  { execution, prefix }: VisitOrigin,
  { node_id: id, scope, seq }: { node_id: string; scope: string; seq: number },
  details: VisitDetails,
): Visit {
  const key = `${prefix}${scope}#${seq}`;
  return {
    entry: undefined,
    join: undefined,
    work: undefined,
    ...details,
    key,
    node: prefix + id,
    id,
    execution,
    scope,
    seq,
  };
}

function listVisits(entries: readonly ChainEntry[], begin: number, place: VisitOrigin): Visit[] {
  let from = begin;
  return entries.flatMap((entry, index) => {
    const to = Date.parse(entry.timestamp);
    const { node_type, branches = [] } = entry;
    const next = entries[index + 1];
    const join = node_type === "map" && next?.node_type === "join" ? next : undefined;
    const isNode = node_type !== "join" && node_type !== "close";
    const ownVisit = isNode
      ? [createVisit(place, entry, { ...readEnd(entry, join, place.isOpen), from, entry, join })]
      : [];
    from = to;
    return [...ownVisit, ...branches.flatMap((branch) => listVisits(branch.entries, to, place))];
  });
}

/**
 * Returns the end and the state of a visit. If a map has no join, the map is running, or its run ended before the items
 * of the map.
 */
function readEnd(entry: ChainEntry, join: ChainEntry | undefined, isOpen: boolean): Pick<Visit, "state" | "to"> {
  const isOpenMap = entry.node_type === "map" && entry.status === "success" && entry.branches !== undefined && !join;
  if (isOpenMap && isOpen) return { state: "running", to: null };
  const last = join ?? entry;
  const isCancelled = isOpenMap || last.error_class === closedClass;
  return { state: isCancelled ? "cancelled" : last.status, to: Date.parse(last.timestamp) };
}

/** The error class of a node that was at work when its run was closed. */
const closedClass = "ExecutionClosed";

export function isReused({ entry }: Visit): boolean {
  return entry?.reused_from != null;
}

/** The combined state of all visits of a node. */
export interface NodeState {
  visits: readonly Visit[];
  /** The state of the visit that needs the most attention. */
  state: VisitState | "idle";
  ms: number;
  isReused: boolean;
}

const order: readonly VisitState[] = ["running", "waiting", "next", "failed", "cancelled", "success"];

export function summarizeVisits(visits: readonly Visit[]): NodeState {
  const states = new Set(visits.map(({ state }) => state));
  return {
    visits,
    state: order.find((state) => states.has(state)) ?? "idle",
    ms: visits.reduce((sum, { entry, join }) => sum + ((join ?? entry)?.execution_time_ms ?? 0), 0),
    isReused: visits.length > 0 && visits.every(isReused),
  };
}

/** Compares two visits for a sort: failures first, then open visits, then by item and time. */
export function compareVisits(a: Visit, b: Visit): number {
  const rank = ({ state }: Visit) => (state === "failed" ? 0 : state === "success" ? 3 : state === "cancelled" ? 2 : 1);
  return rank(a) - rank(b) || (findItem(a.scope) ?? 0) - (findItem(b.scope) ?? 0) || a.from - b.from;
}

/** Counts of the items of a map. `begun` counts the items that have started. */
export type MapCounts = Record<"items" | "begun" | "done" | "failed" | "reused", number>;

/** The graph of a run, and the state of each node and edge. */
export interface RunModel {
  graph: Graph;
  visits: readonly Visit[];
  nodes: ReadonlyMap<string, NodeState>;
  /** How often the run traversed an edge, by `edgeKey`. */
  taken: ReadonlyMap<string, number>;
  maps: ReadonlyMap<string, MapCounts>;
  failed: Visit | undefined;
  /** Whether the run has not ended, so that it may still reach further nodes. */
  isOpen: boolean;
  /** The recorded times of all entries of the run, without unfolded child runs. */
  times: Times;
  /**
   * The critical path: the visits that determined the end of the run, with their recorded times. Of several branches or
   * items, only the one that ended last counts. Undefined while the run is open.
   */
  critical: { keys: ReadonlySet<string>; times: Times } | undefined;
}

export function edgeKey(from: string, to: string): string {
  return `${from}>${to}`;
}

/** Builds the model of a run. `children` contains the loaded child runs by the id of the node that runs them. */
export function buildRunModel(
  run: WholeExecution,
  entries: readonly ChainEntry[],
  graph: Graph,
  children: ReadonlyMap<string, RunModel> = new Map(),
  prefix = "",
): RunModel {
  const inside = Array.from(children.values());
  const own = buildVisits(run, entries, prefix);
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
    failed: run.error ? own.findLast(({ id, state }) => id === run.error?.node && state === "failed") : undefined,
    isOpen: run.ended_at === null,
    times: sumTimes(entries),
    critical: run.ended_at === null ? undefined : findCriticalPath(entries, prefix, inside),
  };
}

function findCriticalPath(entries: readonly ChainEntry[], prefix: string, children: readonly RunModel[]) {
  const path = listCritical(entries);
  const runs = new Set(path.map(({ child }) => child?.execution_id));
  const inside = children.filter(({ visits }) => runs.has(visits[0]?.execution));
  const keys = new Set([
    ...path.map(({ scope, seq }) => `${prefix}${scope}#${seq}`),
    ...inside.flatMap(({ critical }) => Array.from(critical?.keys ?? [])),
  ]);
  return { keys, times: sumTimes(path.map(({ times }) => ({ times }))) };
}

/**
 * Lists the entries that determined the end of the last entry. After a fork, these are the entries of the branch that
 * ended last.
 */
export function listCritical(entries: readonly ChainEntry[]): ChainEntry[] {
  const endOf = (branch: readonly ChainEntry[]) => Date.parse(branch.at(-1)?.timestamp ?? "") || 0;
  return entries.flatMap((entry) => {
    const branches = (entry.branches ?? []).toSorted((a, b) => endOf(a.entries) - endOf(b.entries));
    return [entry, ...listCritical(branches.at(-1)?.entries ?? [])];
  });
}

/** Lists entries in order. The entries of branches come after the entry of their fork. */
export function listEntries(entries: readonly ChainEntry[]): ChainEntry[] {
  return entries.flatMap((entry) => [
    entry,
    ...(entry.branches ?? []).flatMap((branch) => listEntries(branch.entries)),
  ]);
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

/**
 * Returns the id of the node in the graph to which an entry belongs. The entry of a join belongs to the map or the
 * fork.
 */
function readNodeId({ node_id, node_type }: Pick<ChainEntry, "node_id" | "node_type">): string {
  return node_type === "join" ? node_id.slice(0, -joinEnd.length) : node_id;
}

/**
 * Lists the ids of the nodes with which the run continues after an entry. After a fork, these are the first nodes of
 * all branches. A join of parallel branches is no node of the graph, so no edge leads to or from this join.
 */
function listTargets({ node_id, node_type, path_taken, branches }: ChainEntry, graph: Graph): string[] {
  if (branches && !branches.some(({ branch }) => isItem(branch))) return branches.map(({ branch }) => branch);
  if (path_taken === null || path_taken === `${node_id}${joinEnd}`) return [];
  const from = readNodeId({ node_id, node_type });
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
  const before = maps.get(prefix + node_id) ?? { items: 0, begun: 0, done: 0, failed: 0, reused: 0 };
  maps.set(prefix + node_id, {
    items: before.items + branches.length,
    begun: before.begun + branches.filter(({ entries }) => entries.length > 0).length,
    done: before.done + ends.length,
    failed: before.failed + failed,
    reused: before.reused + ends.filter(({ reused_from }) => reused_from != null).length,
  });
}

/**
 * Counts the items of one visit of a map by their outcome, and groups the failed items by their error. `visits`
 * contains the visits inside the map. The last entry of an item leads to no further node.
 */
export function reportItems({ entry, execution }: Visit, visits: readonly Visit[]) {
  const branches = entry?.branches ?? [];
  const scopes = new Set(branches.map(({ scope }) => scope));
  const isEnd = ({ entry, join }: Visit) => (join ?? entry)?.path_taken === null;
  const ends = visits.filter((visit) => visit.execution === execution && scopes.has(visit.scope) && isEnd(visit));
  const byState = (wanted: VisitState) => ends.filter(({ state }) => state === wanted);
  const failed = byState("failed");
  const groups = Map.groupBy(failed, ({ id, entry: end }) => `${id}\n${end?.error_class}\n${end?.error_message}`);
  const failures = Array.from(groups, ([key, same]) => {
    const { id, entry: end } = same[0] as Visit;
    return { key, node: id, class: end?.error_class ?? "", message: end?.error_message ?? "", visits: same };
  });
  return {
    items: branches.length,
    begun: branches.filter(({ entries }) => entries.length > 0).length,
    completed: byState("success").length,
    failed: failed.length,
    cancelled: byState("cancelled").length,
    reused: ends.filter(isReused).length,
    failures: failures.sort((a, b) => b.visits.length - a.visits.length),
  };
}

function insertChildren(graph: Graph, children: ReadonlyMap<string, RunModel>): Graph {
  if (children.size === 0) return graph;
  const nodes = graph.nodes.map((node) => {
    const body = children.get(node.id)?.graph ?? (node.body && insertChildren(node.body, children));
    return { ...node, body };
  });
  return { ...graph, nodes };
}
