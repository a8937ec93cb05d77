import type { Body, Node, Workflow } from "../workflow.ts";
import { branchingOf, detoursIn } from "./branching.ts";
import { loopsIn, onErrorOf, onwardEdges } from "./edges.ts";
import type { Graph } from "./graph.ts";

/** A node after which a run has several branches, which a join ends. */
export interface Fork {
  /** The node whose entry starts the branches; `<map>.join` for a map with several outgoing edges. */
  node: string;
  kind: "parallel" | "map";
  /** In the order of the edges. A map has exactly one branch, its body. */
  branches: ForkBranch[];
  /** The node after the join; null if the join ends a map's body. */
  next: string | null;
  merge: "unique" | "last" | "collect";
}

export interface ForkBranch {
  /** First node of the branch; it also names the branch. */
  entry: string;
  /** Nodes directly in the branch. Nodes of nested forks belong to those forks. */
  nodes: string[];
}

const forks = new WeakMap<Workflow, ReadonlyMap<string, Fork>>();

/** Returns every fork of a checked workflow by its `node`, including forks in the bodies of maps. */
export function forksOf(workflow: Workflow): ReadonlyMap<string, Fork> {
  const known = forks.get(workflow) ?? new Map(Array.from(forksIn(workflow), (fork) => [fork.node, fork]));
  forks.set(workflow, known);
  return known;
}

/** Name of a map's join, which is a fork of its own if the map has several outgoing edges. */
export function joinOf(node: string): string {
  return `${node}.join`;
}

/** Yields the forks of a body. For the body of a map, the map itself comes first. */
function* forksIn(body: Body, map?: { id: string; next: string | null }): Iterable<Fork> {
  const isDone = ({ type }: Node) => map !== undefined && type === "end";
  const points = body.nodes.map((node) => ({
    id: node.id,
    onError: onErrorOf(node),
    fansOut: node.type !== "decision" && node.type !== "approval",
    isDone: isDone(node),
  }));
  const edges = onwardEdges(body.edges);
  const { graph, fanOuts, stretch } = branchingOf(points, edges, loopsIn(body.edges));
  const branchOf = (entry: string, join: string | null): ForkBranch => ({ entry, nodes: stretch(entry, join) });
  if (map) {
    const item = branchOf(entryOf(body, graph), null);
    yield { node: map.id, kind: "map", branches: [item], next: map.next, merge: "unique" };
  }
  const steps = new Set(body.nodes.filter((node) => !isDone(node)).map(({ id }) => id));
  const firstTarget = new Map(edges.toReversed().map(({ from, to }) => [from, steps.has(to) ? to : null]));
  for (const node of body.nodes) {
    const fanOut = fanOuts.get(node.id);
    const join = joinOf(node.id);
    if (node.type === "map") {
      yield* forksIn(node.body, { id: node.id, next: fanOut ? join : (firstTarget.get(node.id) ?? null) });
    }
    if (!fanOut) continue;
    const { targets, meeting } = fanOut;
    const branches = targets.map((entry) => branchOf(entry, meeting));
    const id = node.type === "map" ? join : node.id;
    yield { node: id, kind: "parallel", branches, next: meeting, merge: node.merge ?? "unique" };
  }
}

/** The first node of a body: no edge leads to it, except for loops. */
function entryOf({ edges }: Body, graph: Graph): string {
  const detours = new Set(detoursIn(graph, loopsIn(edges)));
  return graph.ids.find((id) => graph.predecessors.get(id)?.length === 0 && !detours.has(id)) ?? "";
}
