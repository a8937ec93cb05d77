import type { ChainEntry, WholeExecution } from "@nova/client";

export type AtWork = WholeExecution["at_work"];
export type NodeAtWork = AtWork["nodes"][number];

/** `next`: the run continues with this node, which has no turn yet. */
export type VisitState = "success" | "failed" | "running" | "waiting" | "next";

/** One execution of a node. */
export interface Visit {
  /** Scope and number of its entry, with the prefix of the enclosing runs; unique on the page. */
  key: string;
  /** The id of its node in the graph: its own id with the prefix of the enclosing runs. */
  node: string;
  id: string;
  /** The run that contains it: the run of the page or a child run. */
  execution: string;
  scope: string;
  seq: number;
  state: VisitState;
  /** Milliseconds since 1970: the end of the previous entry, and its own end. */
  from: number;
  to: number | null;
  entry: ChainEntry | undefined;
  work: NodeAtWork | undefined;
}

export function entryKey({ scope, seq }: { scope: string; seq: number }): string {
  return `${scope}#${seq}`;
}

/** Returns the item number of the innermost map in a scope; undefined outside maps. */
export function findItem(scope: string): number | undefined {
  const items = Array.from(scope.matchAll(/@\d+\.(\d+)(?=\/|$)/g), ([, item]) => Number(item));
  return items.at(-1);
}

/** Returns the outermost map of a scope. */
export function findMap(scope: string): string | undefined {
  return /\/([^/@]+)@\d+\.\d+(?=\/|$)/.exec(scope)?.[1];
}

type Run = Pick<WholeExecution, "execution_id" | "started_at" | "at_work">;

/**
 * Builds the visits of a run in order, without joins and the close. `prefix` contains the enclosing nodes, each
 * followed by a slash.
 */
export function buildVisits(run: Run, entries: readonly ChainEntry[], prefix = ""): Visit[] {
  const place = { execution: run.execution_id, prefix };
  const visits = listVisits(entries, Date.parse(run.started_at), place);
  const keys = new Set(visits.map(({ key }) => key));
  const atWork = run.at_work.nodes.map((work): Visit => {
    const state = work.waits_for ? "waiting" : "running";
    return createVisit(place, work, { state, from: Date.parse(work.since), to: null, work });
  });
  return [...visits, ...atWork.filter(({ key }) => !keys.has(key))];
}

interface VisitOrigin {
  execution: string;
  prefix: string;
}

type VisitDetails = Pick<Visit, "state" | "from" | "to"> & Partial<Pick<Visit, "entry" | "work">>;

export function createVisit(
  { execution, prefix }: VisitOrigin,
  { node_id: id, scope, seq }: { node_id: string; scope: string; seq: number },
  { entry, work, ...happened }: VisitDetails,
): Visit {
  return {
    key: prefix + entryKey({ scope, seq }),
    node: prefix + id,
    id,
    execution,
    scope,
    seq,
    entry,
    work,
    ...happened,
  };
}

function listVisits(entries: readonly ChainEntry[], begin: number, place: VisitOrigin): Visit[] {
  let from = begin;
  return entries.flatMap((entry) => {
    const to = Date.parse(entry.timestamp);
    const { node_type, status: state, branches = [] } = entry;
    const isNode = node_type !== "join" && node_type !== "close";
    const ownVisit = isNode ? [createVisit(place, entry, { state, from, to, entry })] : [];
    from = to;
    return [...ownVisit, ...branches.flatMap((branch) => listVisits(branch.entries, to, place))];
  });
}

/** Whether the outcome is reused from another run. */
export function isReused({ entry }: Visit): boolean {
  return entry?.reused_from != null;
}

/** The combined state of all visits of a node. */
export interface NodeState {
  visits: readonly Visit[];
  counts: Partial<Record<VisitState, number>>;
  /** The state that needs the most attention. */
  state: VisitState | "idle";
  ms: number;
  isReused: boolean;
}

const order: readonly VisitState[] = ["running", "waiting", "next", "failed", "success"];

export function summarizeVisits(visits: readonly Visit[]): NodeState {
  const counts: NodeState["counts"] = {};
  for (const { state } of visits) counts[state] = (counts[state] ?? 0) + 1;
  return {
    visits,
    counts,
    state: order.find((state) => counts[state]) ?? "idle",
    ms: visits.reduce((sum, { entry }) => sum + (entry?.execution_time_ms ?? 0), 0),
    isReused: visits.length > 0 && visits.every(isReused),
  };
}

/** Sorts failures first, then open visits, then by item and time. */
export function compareVisits(a: Visit, b: Visit): number {
  const rank = ({ state }: Visit) => (state === "failed" ? 0 : state === "success" ? 2 : 1);
  return rank(a) - rank(b) || (findItem(a.scope) ?? 0) - (findItem(b.scope) ?? 0) || a.from - b.from;
}
