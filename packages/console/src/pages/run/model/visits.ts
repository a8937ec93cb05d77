import type { ChainEntry, WholeExecution } from "@nova/client";

export type AtWork = WholeExecution["at_work"];
export type NodeAtWork = AtWork["nodes"][number];

/** `next`: it has been chosen, and waits for a sandbox or for its turn. */
export type VisitState = "success" | "failed" | "running" | "waiting" | "next";

/** One time that a node ran, or runs. */
export interface Visit {
  /** Scope and number of its link: no other visit has the same. */
  key: string;
  node: string;
  scope: string;
  seq: number;
  state: VisitState;
  /** Milliseconds since 1970: when the link before it was there, and when it was over. */
  from: number;
  to: number | null;
  entry: ChainEntry | undefined;
  work: NodeAtWork | undefined;
}

export function linkKey({ scope, seq }: { scope: string; seq: number }): string {
  return `${scope}#${seq}`;
}

/** Which link a key names; the main line's first one where it is none. */
export function linkOf(key: string): { scope: string; seq: number } {
  const at = key.lastIndexOf("#");
  return { scope: key.slice(0, Math.max(0, at)), seq: Number(key.slice(at + 1)) || 0 };
}

/** Number of the map's item that a scope is in, the innermost one; undefined outside of maps. */
export function itemOf(scope: string): number | undefined {
  const items = Array.from(scope.matchAll(/@\d+\.(\d+)(?=\/|$)/g), ([, item]) => Number(item));
  return items.at(-1);
}

/** Nodes ran in this order, joins and the close left out. */
export function visitsOf(run: Pick<WholeExecution, "started_at" | "at_work">, entries: readonly ChainEntry[]): Visit[] {
  const begin = Date.parse(run.started_at);
  const visits = visitsIn(entries, begin);
  const known = new Map(visits.map((visit) => [visit.key, visit]));
  for (const work of run.at_work.nodes) {
    const key = linkKey(work);
    if (known.has(key)) continue;
    visits.push({
      ...{ key, node: work.node_id, scope: work.scope, seq: work.seq, entry: undefined, work },
      state: work.waits_for ? "waiting" : "running",
      from: Date.parse(work.since),
      to: null,
    });
  }
  return visits;
}

function visitsIn(entries: readonly ChainEntry[], begin: number): Visit[] {
  let from = begin;
  return entries.flatMap((entry) => {
    const to = Date.parse(entry.timestamp);
    const { node_id: node, node_type, scope, seq, status, branches = [] } = entry;
    const isNode = node_type !== "join" && node_type !== "close";
    const own: Visit[] = isNode
      ? [{ key: linkKey(entry), node, scope, seq, state: status, from, to, entry, work: undefined }]
      : [];
    from = to;
    return [...own, ...branches.flatMap((branch) => visitsIn(branch.entries, to))];
  });
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

export function stateOf(visits: readonly Visit[]): NodeState {
  const counts: NodeState["counts"] = {};
  for (const { state } of visits) counts[state] = (counts[state] ?? 0) + 1;
  return {
    ...{ visits, counts },
    state: order.find((state) => counts[state]) ?? "idle",
    ms: visits.reduce((sum, { entry }) => sum + (entry?.execution_time_ms ?? 0), 0),
    isReused: visits.length > 0 && visits.every(({ entry }) => entry?.reused_from != null),
  };
}

/** Failures first, then what runs, then in their order. */
export function byUrgency(a: Visit, b: Visit): number {
  const rank = ({ state }: Visit) => (state === "failed" ? 0 : state === "success" ? 2 : 1);
  return rank(a) - rank(b) || (itemOf(a.scope) ?? 0) - (itemOf(b.scope) ?? 0) || a.from - b.from;
}
