import type { ChainEntry, WholeExecution } from "@nova/client";

export type AtWork = WholeExecution["at_work"];
export type NodeAtWork = AtWork["nodes"][number];

/** `next`: it has been chosen, and waits for a sandbox or for its turn. */
export type VisitState = "success" | "failed" | "running" | "waiting" | "next";

/** One time that a node ran, or runs. */
export interface Visit {
  /** Scope and number of its link, behind the nodes of the runs around it: no other visit has the same. */
  key: string;
  /** Its place in the graph: its id, behind those of the nodes that run the runs around it. */
  node: string;
  id: string;
  /** The run that it belongs to: that of the page, or one inside of it. */
  execution: string;
  scope: string;
  seq: number;
  state: VisitState;
  /** Milliseconds since 1970: when the link before it was there, and when it was over. */
  from: number;
  to: number | null;
  entry: ChainEntry | undefined;
  work: NodeAtWork | undefined;
}

export function entryKey({ scope, seq }: { scope: string; seq: number }): string {
  return `${scope}#${seq}`;
}

/** Number of the map's item that a scope is in, the innermost one; undefined outside of maps. */
export function findItem(scope: string): number | undefined {
  const items = Array.from(scope.matchAll(/@\d+\.(\d+)(?=\/|$)/g), ([, item]) => Number(item));
  return items.at(-1);
}

/** The outermost map whose item a scope is in. */
export function findMap(scope: string): string | undefined {
  return /\/([^/@]+)@\d+\.\d+(?=\/|$)/.exec(scope)?.[1];
}

type Run = Pick<WholeExecution, "execution_id" | "started_at" | "at_work">;

/** Nodes in the order in which they ran, joins and the close left out. `prefix`: the nodes around the run, each with a slash. */
export function buildVisits(run: Run, entries: readonly ChainEntry[], prefix = ""): Visit[] {
  const place = { execution: run.execution_id, prefix };
  const visits = listVisits(entries, Date.parse(run.started_at), place);
  const known = new Set(visits.map(({ key }) => key));
  const atWork = run.at_work.nodes.map((work): Visit => {
    const state = work.waits_for ? "waiting" : "running";
    return createVisit(place, work, { state, from: Date.parse(work.since), to: null, work });
  });
  return [...visits, ...atWork.filter(({ key }) => !known.has(key))];
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
    const own = isNode ? [createVisit(place, entry, { state, from, to, entry })] : [];
    from = to;
    return [...own, ...branches.flatMap((branch) => listVisits(branch.entries, to, place))];
  });
}

/** The outcome is that of another run. */
export function isReused({ entry }: Visit): boolean {
  return entry?.reused_from != null;
}

/** How the visits of one node stand together. */
export interface NodeState {
  visits: readonly Visit[];
  counts: Partial<Record<VisitState, number>>;
  /** What most deserves a look. */
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

/** Failures first, then what runs, then in their order. */
export function compareVisits(a: Visit, b: Visit): number {
  const rank = ({ state }: Visit) => (state === "failed" ? 0 : state === "success" ? 2 : 1);
  return rank(a) - rank(b) || (findItem(a.scope) ?? 0) - (findItem(b.scope) ?? 0) || a.from - b.from;
}
