import type { Body, Edge, MapNode, Node, Workflow } from "../workflow.ts";
import { type Graph, graphOf } from "./graph.ts";
import { meetingsIn } from "./post-dominators.ts";

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

export interface IndexedNode {
  node: Node;
  /** Edges that leave it. */
  edges: Edge[];
  /** Id of the map whose body it is in. */
  body: string | null;
}

const forks = new WeakMap<Workflow, ReadonlyMap<string, Fork>>();
const indexes = new WeakMap<Workflow, ReadonlyMap<string, IndexedNode>>();

/** Every fork of a checked workflow, those in the bodies of maps included, by its `node`. */
export function forksOf(workflow: Workflow): ReadonlyMap<string, Fork> {
  const known = forks.get(workflow) ?? new Map([...forksIn(workflow)].map((fork) => [fork.node, fork]));
  forks.set(workflow, known);
  return known;
}

/** Every node of a checked workflow, those in the bodies of maps included, by its id. */
export function nodeIndex(workflow: Workflow): ReadonlyMap<string, IndexedNode> {
  const known = indexes.get(workflow) ?? new Map([...nodesIn(workflow, null)].map((one) => [one.node.id, one]));
  indexes.set(workflow, known);
  return known;
}

/** The entry of a map's join, where the map has several edges out, is a fork of its own. */
export function joinOf(node: string): string {
  return `${node}.join`;
}

function* nodesIn({ nodes, edges }: Body, body: string | null): Iterable<IndexedNode> {
  const leaving = Map.groupBy(edges, ({ from }) => from);
  for (const node of nodes) {
    yield { node, edges: leaving.get(node.id) ?? [], body };
    if (node.type === "map") yield* nodesIn(node.body, node.id);
  }
}

function* forksIn(body: Body, isMapBody = false): Iterable<Fork> {
  const inside = insideOf(body, isMapBody);
  for (const node of body.nodes) {
    const list = inside.targets.get(node.id) ?? [];
    const fans = list.length > 1;
    if (node.type === "map") yield* mapForks(node, fans ? joinOf(node.id) : (list[0] ?? null));
    if (!fans) continue;
    const next = inside.joins.get(node.id) ?? null;
    const branches = list.map((entry) => ({ entry, nodes: [...branchNodes(entry, next, inside)] }));
    const id = node.type === "map" ? joinOf(node.id) : node.id;
    yield { node: id, kind: "parallel", branches, next, merge: node.merge ?? "unique" };
  }
}

function* mapForks({ id, body }: MapNode, next: string | null): Iterable<Fork> {
  const entry = entryOf(body);
  const nodes = [...branchNodes(entry, null, insideOf(body, true))];
  yield { node: id, kind: "map", branches: [{ entry, nodes }], next, merge: "unique" };
  yield* forksIn(body, true);
}

interface Inside {
  graph: Graph;
  /** Unconditional ways on, by the node they leave. */
  targets: ReadonlyMap<string, string[]>;
  /** Of nodes that fan out: where their branches meet. */
  joins: ReadonlyMap<string, string | null>;
  /** In the body of a map `end` is no place, it only says that the item is done. */
  ends: ReadonlySet<string>;
}

function insideOf({ nodes, edges }: Body, isMapBody: boolean): Inside {
  const graph = graphOf(nodes, edges);
  const meetings = meetingsIn(graph);
  const ends = new Set(nodes.filter(({ type }) => isMapBody && type === "end").map(({ id }) => id));
  const leaving = Map.groupBy(edges, ({ from }) => from);
  const goingOn = nodes.filter(({ type }) => type !== "decision" && type !== "approval");
  const targets = new Map(goingOn.map(({ id }) => [id, (leaving.get(id) ?? []).map(({ to }) => to)]));
  const fanning = [...targets].filter(([, list]) => list.length > 1);
  const joins = new Map(
    fanning.map(([id, list]) => {
      const meeting = meetings.of(list);
      return [id, meeting !== null && ends.has(meeting) ? null : meeting];
    }),
  );
  return { graph, targets, joins, ends };
}

/** The node of a body that no edge leads to. */
export function entryOf({ nodes, edges }: Body): string {
  const entered = new Set(edges.map(({ to }) => to));
  for (const node of nodes) if ("onError" in node && node.onError !== undefined) entered.add(node.onError);
  return nodes.find(({ id }) => !entered.has(id))?.id ?? "";
}

/** From `entry` to before `join`, forks inside taken as one step; the failure of a fork's own node is no branch. */
function branchNodes(entry: string, join: string | null, { graph, joins, targets, ends }: Inside): Set<string> {
  const nodes = new Set<string>([entry]);
  for (const id of nodes) {
    const all = graph.successors.get(id) ?? [];
    const behind = joins.has(id) ? [joins.get(id) ?? null, ...all.slice(targets.get(id)?.length)] : all;
    for (const next of behind) if (next !== null && next !== join && !ends.has(next)) nodes.add(next);
  }
  return nodes;
}
