import type { Body, Node, Workflow } from "../workflow.ts";
import { branchingOf, detoursIn } from "./branching.ts";
import { loopsIn, onErrorOf, onwardEdges } from "./edges.ts";
import type { Graph } from "./graph.ts";

/** A place where one way becomes several, which meet again. */
export interface Fork {
  /** The node whose entry is the fork's link; `<map>.join` where the ways part behind a map. */
  node: string;
  kind: "parallel" | "map";
  /** In the order of the edges; of a map exactly one, its body. */
  branches: ForkBranch[];
  /** The node behind the join; null where the join is the last thing in a map's body. */
  next: string | null;
  merge: "unique" | "last" | "collect";
}

export interface ForkBranch {
  /** First node, which also names the branch. */
  entry: string;
  /** Directly in the branch: nodes in forks inside of it are theirs. */
  nodes: string[];
}

const forks = new WeakMap<Workflow, ReadonlyMap<string, Fork>>();

/** Every fork of a checked workflow, those in the bodies of maps included, by its `node`. */
export function forksOf(workflow: Workflow): ReadonlyMap<string, Fork> {
  const known = forks.get(workflow) ?? new Map(Array.from(forksIn(workflow), (fork) => [fork.node, fork]));
  forks.set(workflow, known);
  return known;
}

/** The entry of a map's join, where the map has several edges out, is a fork of its own. */
export function joinOf(node: string): string {
  return `${node}.join`;
}

/** The forks of a body; of a map's first of all the map itself. */
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

/** The node of a body that no way leads to, but for loops. */
function entryOf({ edges }: Body, graph: Graph): string {
  const detours = new Set(detoursIn(graph, loopsIn(edges)));
  return graph.ids.find((id) => graph.predecessors.get(id)?.length === 0 && !detours.has(id)) ?? "";
}
