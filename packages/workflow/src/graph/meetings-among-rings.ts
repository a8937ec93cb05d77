import type { Graph } from "./graph.ts";
import type { Meetings } from "./meetings.ts";

/**
 * Immediate post-dominators of any graph, in rounds until nothing changes (Cooper, Harvey, Kennedy, "A Simple, Fast
 * Dominance Algorithm"). Rings are rare and this climbs step by step, so graphs without one do not come here. A node
 * that can never come to an end meets nothing.
 */
export function meetingsAmongRings(graph: Graph): Meetings {
  const order = fromEnds(graph);
  const ranks = new Map(order.map((id, index) => [id, index + 1]));
  const parents = new Map<string, string | null>();
  const rankOf = (id: string | null) => (id === null ? 0 : (ranks.get(id) ?? 0));
  const meet = (a: string | null, b: string | null): string | null => {
    let [one, other] = [a, b];
    while (one !== other) {
      if (rankOf(one) >= rankOf(other)) one = parents.get(one ?? "") ?? null;
      else other = parents.get(other ?? "") ?? null;
    }
    return one;
  };
  for (let changed = true; changed; ) {
    changed = false;
    for (const id of order) {
      const placed = (graph.successors.get(id) ?? []).filter((next) => parents.has(next));
      const parent = placed.length === 0 ? null : placed.reduce(meet, placed[0] as string | null);
      changed ||= parents.get(id) !== parent;
      parents.set(id, parent);
    }
  }
  return {
    behind: (id) => parents.get(id) ?? null,
    of: (ids) => (ids.every((id) => parents.has(id)) ? ids.reduce(meet, ids[0] ?? null) : null),
  };
}

/** Nodes that come to an end, ends first: each behind one that it leads to. Without recursion. */
function fromEnds({ ids, successors, predecessors }: Graph): string[] {
  const done = new Set<string>();
  const seen = new Set<string>();
  for (const end of ids.filter((id) => successors.get(id)?.length === 0)) {
    const path = [end];
    while (path.length > 0) {
      const here = path.at(-1) as string;
      const isNew = !seen.has(here);
      seen.add(here);
      const before = isNew ? (predecessors.get(here) ?? []).filter((id) => !seen.has(id)) : [];
      for (const id of before) path.push(id);
      if (before.length > 0) continue;
      path.pop();
      done.add(here);
    }
  }
  return [...done].reverse();
}
