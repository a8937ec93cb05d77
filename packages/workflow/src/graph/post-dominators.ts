import { type Graph, lastToFirst } from "./graph.ts";

/** A virtual node after every end. The nodes have the ranks from 1, ends first. */
const root = 0;
const unplaced = -1;

/**
 * Computes immediate post-dominators in rounds until nothing changes (Cooper, Harvey, Kennedy, "A Simple, Fast
 * Dominance Algorithm"). One round is enough without cycles, and only `onError` makes cycles. A node that cannot reach
 * an end meets no other. The returned function finds the first node on all paths from the given nodes (which count
 * themselves); null if the paths meet only after the end.
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

/** Returns the nodes that can reach an end, ends first: each after a node that it leads to. */
function fromEnds({ ids, successors, predecessors }: Graph): string[] {
  const ends = ids.filter((id) => successors.get(id)?.length === 0);
  return lastToFirst(ends.reverse(), (id) => predecessors.get(id) ?? []).reverse();
}
