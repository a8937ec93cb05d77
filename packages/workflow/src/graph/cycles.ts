import type { Graph } from "./graph.ts";

/**
 * Cycles, at least one for every knot of nodes that lead to one another; cycles that share their closing edge's ends
 * with one already found are left out (there may be exponentially many). Depth first, without recursion.
 */
export function findCycles(graph: Graph): string[][] {
  const cycles: string[][] = [];
  const reported = new Set<string>();
  const finished = new Set<string>();
  for (const root of graph.ids) {
    if (finished.has(root)) continue;
    const path = [root];
    const depth = new Map([[root, 0]]);
    const waiting = [[...(graph.successors.get(root) ?? [])].reverse()];
    while (path.length > 0) {
      const here = path.at(-1) as string;
      const next = waiting.at(-1)?.pop();
      if (next === undefined) {
        finished.add(here);
        depth.delete(here);
        path.pop();
        waiting.pop();
        continue;
      }
      const at = depth.get(next);
      if (at !== undefined && !reported.has(here) && !reported.has(next)) {
        const cycle = path.slice(at);
        for (const id of cycle) reported.add(id);
        cycles.push(cycle);
      }
      if (at !== undefined || finished.has(next)) continue;
      depth.set(next, path.length);
      path.push(next);
      waiting.push([...(graph.successors.get(next) ?? [])].reverse());
    }
  }
  return cycles;
}
