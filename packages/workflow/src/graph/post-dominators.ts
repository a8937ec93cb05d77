import type { Graph } from "./graph.ts";
import type { Meetings } from "./meetings.ts";
import { meetingsAmongRings } from "./meetings-among-rings.ts";

/** A node in the tree whose parents are the first meetings; its root is what lies behind every end. */
interface Spot {
  id: string | null;
  depth: number;
  parent: Spot;
  /** An ancestor further up, so that climbing takes logarithmic time (Myers, "An applicative random-access stack"). */
  jump: Spot;
}

/** Immediate post-dominators: each node is placed after all that it leads to. `onError` may make rings. */
export function meetingsIn(graph: Graph): Meetings {
  const root = rootSpot();
  const spots = new Map<string, Spot>();
  for (const id of lastFirst(graph)) {
    const successors = graph.successors.get(id) ?? [];
    const next = successors.flatMap((successor) => spots.get(successor) ?? []);
    // Led to before it was placed: only a ring does that.
    if (next.length < successors.length) return meetingsAmongRings(graph);
    spots.set(id, below(next.length === 0 ? root : next.reduce(meet), id));
  }
  const spotOf = (id: string | undefined) => spots.get(id ?? "") ?? root;
  return {
    behind: (id) => spotOf(id).parent.id,
    of: ([first, ...others]) => others.map(spotOf).reduce(meet, spotOf(first)).id,
  };
}

function rootSpot(): Spot {
  const root = { id: null, depth: 0 } as Spot;
  return Object.assign(root, { parent: root, jump: root });
}

function below(parent: Spot, id: string): Spot {
  const { jump } = parent;
  const isLevel = parent.depth - jump.depth === jump.depth - jump.jump.depth;
  return { id, depth: parent.depth + 1, parent, jump: isLevel ? jump.jump : parent };
}

/** The nearest common ancestor, these themselves counted. */
function meet(a: Spot, b: Spot): Spot {
  let [one, other] = a.depth > b.depth ? [a, b] : [b, a];
  while (one.depth > other.depth) one = one.jump.depth < other.depth ? one.parent : one.jump;
  while (one !== other) {
    const isApart = one.jump !== other.jump;
    [one, other] = isApart ? [one.jump, other.jump] : [one.parent, other.parent];
  }
  return one;
}

/** Every node after all of its successors, but for rings. Without recursion. */
function lastFirst({ ids, successors }: Graph): string[] {
  const done = new Set<string>();
  const seen = new Set<string>();
  for (const root of ids) {
    const path = [root];
    while (path.length > 0) {
      const here = path.at(-1) as string;
      const next = seen.has(here) ? [] : (successors.get(here) ?? []).filter((id) => !seen.has(id));
      seen.add(here);
      for (const id of next) path.push(id);
      if (next.length > 0) continue;
      path.pop();
      done.add(here);
    }
  }
  return [...done];
}
