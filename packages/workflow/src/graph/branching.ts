import type { Body, Node } from "../workflow.ts";
import {
  type Graph,
  graphOf,
  lastToFirst,
  loopsIn,
  oncePerWorkflow,
  onErrorOf,
  onwardEdges,
  reachableFrom,
} from "./graph.ts";

export interface WayPoint {
  id: string;
  onError: string | undefined;
  /** True if a run takes all edges that leave the node at the same time. */
  fansOut: boolean;
  /** True for an `end` in a map's body: it runs no code and only ends the item. */
  isDone: boolean;
}

export interface FanOut {
  targets: string[];
  /** The first node that is on every path from every target; null if the paths meet only at the end of the body. */
  meeting: string | null;
}

export interface Branching {
  graph: Graph;
  fanOuts: ReadonlyMap<string, FanOut>;
  /**
   * Returns the nodes from `entry` up to `join`, without `join`. Nodes in branches of nested forks are left out, and so
   * are nodes for which `enter` is false.
   */
  stretch(entry: string, join: string | null, enter?: (id: string) => boolean): string[];
}

/**
 * A virtual node at the end of a body. If the last node of the body has an `onError`, one path leads from it to this
 * node and another one to its `onError`.
 */
const done = "";

type Ends = readonly { from: string; to: string }[];

/**
 * Finds where paths fork and meet. `edges` must have no cycle. `loops` are the edges with a `max`. Only loops that lead
 * to a detour matter: to a node that only edges with a `max` reach.
 */
export function branchingOf(nodes: readonly WayPoint[], edges: Ends, loops: Ends = []): Branching {
  const graph = graphOf(nodes, edges);
  const first = new Set(detoursIn(graph, loops));
  const intoDetours = loops.filter(({ to }) => first.has(to));
  const detours = Map.groupBy(intoDetours, ({ from }) => from);
  const leaving = Map.groupBy(edges, ({ from }) => from);
  const last = nodes.filter(({ id, onError }) => onError !== undefined && !leaving.has(id));
  const toDone = last.map(({ id }) => ({ from: id, to: done }));
  const meetingOf = meetingsIn(graphOf([...nodes, { id: done }], [...edges, ...toDone]));
  const points = new Map(nodes.map((node) => [node.id, node]));
  const isStep = (id: string | null | undefined): id is string => points.get(id ?? "")?.isDone === false;
  const fanOuts = new Map<string, FanOut>();
  for (const [id, out] of leaving) {
    const targets = [...new Set(out.map(({ to }) => to))];
    if (!points.get(id)?.fansOut || targets.length < 2) continue;
    const meeting = meetingOf(targets);
    fanOuts.set(id, { targets, meeting: isStep(meeting) ? meeting : null });
  }

  /**
   * Returns the nodes after a node. If branches start at the node, these are the node where the branches meet, and the
   * node's `onError`.
   */
  const waysFrom = (id: string) => {
    const fanOut = fanOuts.get(id);
    if (fanOut) return [fanOut.meeting, points.get(id)?.onError];
    return [...(graph.successors.get(id) ?? []), ...(detours.get(id) ?? []).map(({ to }) => to)];
  };
  const stretch: Branching["stretch"] = (entry, join, enter = () => true) => {
    const inside = new Set([entry].filter((id) => isStep(id) && id !== join && enter(id)));
    for (const id of inside) {
      for (const next of waysFrom(id)) {
        if (isStep(next) && next !== join && !inside.has(next) && enter(next)) inside.add(next);
      }
    }
    return [...inside];
  };
  return { graph, fanOuts, stretch };
}

/**
 * Returns the detours of loops: nodes that only loop edges reach. The node where the body starts is never one of them.
 */
export function detoursIn(graph: Graph, loops: Ends): string[] {
  const targets = new Set(loops.map(({ to }) => to));
  const entries = graph.ids.filter((id) => graph.predecessors.get(id)?.every((before) => before === id));
  if (entries.some((id) => !targets.has(id))) return entries.filter((id) => targets.has(id));
  const whole = withLoops(graph, loops);
  const beginning = entries.find((id) => reachableFrom(whole, [id]).isSupersetOf(new Set(entries)));
  return beginning === undefined ? [] : entries.filter((id) => id !== beginning);
}

function withLoops({ ids, successors }: Graph, loops: Ends): Graph {
  const onward = [...successors].flatMap(([from, nexts]) => nexts.map((to) => ({ from, to })));
  const nodes = ids.map((id) => ({ id }));
  return graphOf(nodes, [...onward, ...loops]);
}

/** Rank of the virtual node after all ends. The real nodes have the ranks from 1 on, ends first. */
const root = 0;
const unplaced = -1;

/**
 * Returns a function that finds the first node on all paths from the given nodes, which may be one of them; null if
 * their paths meet only after the end. It computes immediate post-dominators in rounds until nothing changes (Cooper,
 * Harvey, Kennedy, "A Simple, Fast Dominance Algorithm"). Only `onError` makes cycles. Without cycles, one round is
 * enough. A node that cannot reach an end has no meeting.
 */
export function meetingsIn(graph: Graph): (ids: readonly string[]) => string | null {
  const order = fromEnds(graph);
  const ranks = new Map(order.map((id, index) => [id, index + 1]));
  const successors = order.map((id) => graph.successors.get(id)?.flatMap((next) => ranks.get(next) ?? []) ?? []);
  const parents = new Int32Array(order.length + 1).fill(unplaced, root + 1);
  const meet = (a: number, b: number): number => {
    let [one, other] = [a, b];
    while (one !== other) {
      if (one > other) one = parents[one] as number;
      else other = parents[other] as number;
    }
    return one;
  };
  for (let isDone = false; !isDone; ) {
    isDone = true;
    for (const [index, next] of successors.entries()) {
      const placed = next.filter((rank) => parents[rank] !== unplaced);
      const parent = placed.length === 0 ? root : placed.reduce(meet);
      const before = parents[index + 1];
      isDone &&= placed.length === next.length && (before === unplaced || before === parent);
      parents[index + 1] = parent;
    }
  }
  return (ids) => {
    const rank = ids.length === 0 ? root : ids.map((id) => ranks.get(id) ?? root).reduce(meet);
    return order[rank - 1] ?? null;
  };
}

/** Returns the nodes that can reach an end, ends first: each node follows at least one of its successors. */
function fromEnds({ ids, successors, predecessors }: Graph): string[] {
  const ends = ids.filter((id) => successors.get(id)?.length === 0);
  return lastToFirst(ends.reverse(), (id) => predecessors.get(id) ?? []).reverse();
}

/** A place at which a run splits into branches, which end at a join. */
export interface Fork {
  /** The node after whose entry the branches start; `<map>.join` for the edges after a map. */
  node: string;
  kind: "parallel" | "map" | "agent";
  /**
   * The branches in the order of their edges. A fork of kind `map` has one branch: the body of the map. A fork of kind
   * `agent` has one branch for each tool; each call takes one of them.
   */
  branches: ForkBranch[];
  /** The node after the join; null if the join ends a map's body. After the calls of an agent, the agent itself follows. */
  next: string | null;
  merge: "unique" | "last" | "collect";
}

export interface ForkBranch {
  entry: string;
  /** The nodes directly in the branch. Nodes in branches of nested forks are listed there. */
  nodes: string[];
}

/** Returns every fork of a checked workflow by its `node`, including forks in the bodies of maps. */
export const forksOf = oncePerWorkflow(
  (workflow): ReadonlyMap<string, Fork> => new Map(Array.from(forksIn(workflow), (fork) => [fork.node, fork])),
);

/** Returns the name of a map's join. The join is itself a fork if the map has several outgoing edges. */
export function joinOf(node: string): string {
  return `${node}.join`;
}

/** Yields the forks of a body. For the body of a map or an agent (`around`), its own fork comes first. */
function* forksIn(body: Body, around?: Node, next: string | null = null): Iterable<Fork> {
  const isDone = ({ type }: Node) => around !== undefined && type === "end";
  const points = body.nodes.map((node) => ({
    id: node.id,
    onError: onErrorOf(node),
    fansOut: node.type !== "decision" && node.type !== "approval",
    isDone: isDone(node),
  }));
  const edges = onwardEdges(body.edges);
  const { graph, fanOuts, stretch } = branchingOf(points, edges, loopsIn(body.edges));
  const branchOf = (entry: string, join: string | null): ForkBranch => ({ entry, nodes: stretch(entry, join) });
  if (around) {
    const calls = around.type === "agent" && around.executor.tools.map(({ entry }) => branchOf(entry, null));
    const branches = calls || [branchOf(entryOf(body, graph), null)];
    yield { node: around.id, kind: calls ? "agent" : "map", branches, next, merge: "unique" };
  }
  const steps = new Set(body.nodes.filter((node) => !isDone(node)).map(({ id }) => id));
  const firstTarget = new Map(edges.toReversed().map(({ from, to }) => [from, steps.has(to) ? to : null]));
  for (const node of body.nodes) {
    const fanOut = fanOuts.get(node.id);
    const join = joinOf(node.id);
    if (node.type === "map") {
      yield* forksIn(node.body, node, fanOut ? join : (firstTarget.get(node.id) ?? null));
    }
    if (node.type === "agent") yield* forksIn(node.body, node, node.id);
    if (!fanOut) continue;
    const { targets, meeting } = fanOut;
    const branches = targets.map((entry) => branchOf(entry, meeting));
    const id = node.type === "map" ? join : node.id;
    yield { node: id, kind: "parallel", branches, next: meeting, merge: node.merge ?? "unique" };
  }
}

function entryOf({ edges }: Body, graph: Graph): string {
  const detours = new Set(detoursIn(graph, loopsIn(edges)));
  return graph.ids.find((id) => graph.predecessors.get(id)?.length === 0 && !detours.has(id)) ?? "";
}
