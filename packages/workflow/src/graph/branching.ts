import { type Graph, graphOf, reachableFrom } from "./graph.ts";
import { meetingsIn } from "./post-dominators.ts";

/** A node of one body, as far as it matters where ways part. */
export interface WayPoint {
  id: string;
  onError: string | undefined;
  /** Several edges out of it are taken all at once. */
  fansOut: boolean;
  /** Is no step, but only says that the body is done: an `end` in a map. */
  isDone: boolean;
}

export interface FanOut {
  /** First nodes of the branches, in the order of the edges. */
  targets: string[];
  /** The first node that all ways from all targets lead to; null where the body is done before. */
  meeting: string | null;
}

export interface Branching {
  graph: Graph;
  /** By the node that fans out. */
  fanOuts: ReadonlyMap<string, FanOut>;
  /**
   * The nodes from `entry`, detours among them, to before `join`; what is inside of further fan-outs is left out, and so is all that
   * `enter` does not let in.
   */
  stretch(entry: string, join: string | null, enter?: (id: string) => boolean): string[];
}

/** No id: where a last node of a body leads, besides to its `onError`. */
const done = "";

type Ends = readonly { from: string; to: string }[];

/**
 * Where the ways of a body part and meet again. Edges have known ends, and no rings. `loops`
 * are the edges with a `max`: only what lies on detours depends on them.
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

  /** A fan-out is one step to its meeting; the failure of its own node is another way. */
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

/** Nodes to which only loops lead, other than the node where the body begins. */
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
