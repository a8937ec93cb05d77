import type { Graph } from "./graph.ts";

/** Where all ways from a place meet first: a node, or null where that is only behind the last one. */
export interface Meetings {
  /** The first node that every way from `id` comes to, `id` itself not counted. */
  behind(id: string): string | null;
  /** The first node that the ways from all of these come to, these themselves counted. */
  of(ids: readonly string[]): string | null;
}

/**
 * Immediate post-dominators of an acyclic graph, each node after all that it leads to: linear, but for climbing where
 * ways of different length meet.
 */
export function meetingsIn(graph: Graph): Meetings {
  const parent = new Map<string, string | null>();
  const depth = new Map<string, number>();
  const depthOf = (id: string | null) => (id === null ? 0 : (depth.get(id) ?? 0));
  const meet = (a: string | null, b: string | null): string | null => {
    let [one, other] = [a, b];
    while (one !== other) {
      if (depthOf(one) >= depthOf(other)) one = one === null ? null : (parent.get(one) ?? null);
      else other = other === null ? null : (parent.get(other) ?? null);
    }
    return one;
  };
  for (const id of lastFirst(graph)) {
    const successors = (graph.successors.get(id) ?? []).filter((next) => parent.has(next)); // a way back leads nowhere new
    const behind = successors.length === 0 ? null : successors.reduce<string | null>(meet, successors[0] as string);
    parent.set(id, behind);
    depth.set(id, depthOf(behind) + 1);
  }
  return {
    behind: (id) => parent.get(id) ?? null,
    of: (ids) => ids.reduce<string | null>(meet, ids[0] ?? null),
  };
}

/** Every node after all of its successors; of a ring, which only a wrong graph has, some order. Without recursion. */
function lastFirst({ ids, successors }: Graph): string[] {
  const done = new Set<string>();
  const seen = new Set<string>();
  for (const root of ids) {
    const path = [root];
    while (path.length > 0) {
      const here = path.at(-1) as string;
      const next = seen.has(here) ? undefined : (successors.get(here) ?? []).filter((id) => !seen.has(id));
      seen.add(here);
      if (next && next.length > 0) path.push(...next);
      else {
        path.pop();
        done.add(here);
      }
    }
  }
  return [...done];
}
