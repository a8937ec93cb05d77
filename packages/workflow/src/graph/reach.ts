import type { Graph } from "./graph.ts";

/** Everything that the arrows lead to from `starts`, these included. */
export function reachableFrom(graph: Graph, starts: readonly string[]): Set<string> {
  return spread(graph.successors, starts);
}

/** Everything from which some of `ends` can be reached, these included. */
export function canReach(graph: Graph, ends: readonly string[]): Set<string> {
  return spread(graph.predecessors, ends);
}

function spread(arrows: Graph["successors"], from: readonly string[]): Set<string> {
  const seen = new Set(from);
  for (const id of seen) for (const next of arrows.get(id) ?? []) seen.add(next);
  return seen;
}

/**
 * The members of a set in groups, each led by one that no other member leads to (for a ring: by its first): what has
 * to be connected, and what will be connected with it.
 */
export function groupsOf(graph: Graph, members: ReadonlySet<string>): { head: string; others: string[] }[] {
  const inOrder = graph.ids.filter((id) => members.has(id));
  const isHead = (id: string) => !graph.predecessors.get(id)?.some((before) => before !== id && members.has(before));
  const taken = new Set<string>();
  const group = (head: string) => {
    const before = taken.size;
    const own = new Set([head]);
    for (const id of own) {
      taken.add(id);
      for (const next of graph.successors.get(id) ?? []) if (members.has(next) && !taken.has(next)) own.add(next);
    }
    return taken.size === before ? [] : [{ head, others: [...own].slice(1) }];
  };
  const heads = inOrder.filter(isHead).flatMap(group);
  return [...heads, ...inOrder.flatMap((id) => (taken.has(id) ? [] : group(id)))];
}
