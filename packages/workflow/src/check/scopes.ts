import { type Branching, branchingOf } from "../graph/branching.ts";
import type { NamedNode, Outline } from "./outline.ts";

/** A branch of a fan-out, or (without `fork`) what is in no branch of its body. */
export interface Scope {
  entry: string;
  join: string | null;
  fork?: string;
}

/** How the nodes of an outline branch, with `onError` or without; repeated edges count once, unknown ends not at all. */
export function branchingOfOutline({ byId, edges, map }: Outline, withFailures = true): Branching {
  const points = [...byId.values()].map((node) => ({
    id: node.id,
    ...(withFailures && node.onError !== undefined && { onError: node.onError }),
    fansOut: node.kind?.edgesOut === "one",
    isDone: map !== undefined && node.kind?.edgesOut === "none",
  }));
  const known = edges.flatMap(({ from = "", to = "", repeats }) =>
    byId.has(from) && byId.has(to) && !repeats ? [{ from, to }] : [],
  );
  return branchingOf(points, known);
}

/** Where a body begins: the start, or of a map's body the nodes that no other one leads to. */
export function entriesOf({ nodes, byId, graph, map }: Outline): NamedNode[] {
  const unique = nodes.filter((node) => byId.get(node.id) === node);
  if (map === undefined) return unique.filter((node) => node.kind?.edgesIn === "none");
  return unique.filter(({ id }) => (graph.predecessors.get(id) ?? []).every((before) => before === id));
}

/** The branches of a fan-out that may be looked into: those that have a node, where they have a join. */
export function branchesOf(fork: string, branching: Branching, isBody: boolean): Scope[] {
  const fanOut = branching.fanOuts.get(fork);
  if (!fanOut || (fanOut.meeting === null && !isBody)) return [];
  return fanOut.targets.flatMap((entry) => (entry === fanOut.meeting ? [] : [{ entry, join: fanOut.meeting, fork }]));
}
