import { type Graph, lastToFirst } from "./graph.ts";

/** Behind every end; the nodes count from 1, ends first. */
const root = 0;
const unplaced = -1;

/**
 * Immediate post-dominators, in rounds until nothing changes (Cooper, Harvey, Kennedy, "A Simple, Fast Dominance
 * Algorithm"). One round is enough where there are no rings, which only `onError` makes. A node that can never come
 * to an end meets nothing. Answers the first node that the ways from all of these come to, these themselves counted; null
 * where they meet only behind the last one.
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

/** Nodes that come to an end, ends first: each behind one that it leads to. */
function fromEnds({ ids, successors, predecessors }: Graph): string[] {
  const ends = ids.filter((id) => successors.get(id)?.length === 0);
  return lastToFirst(ends.reverse(), (id) => predecessors.get(id) ?? []).reverse();
}
