import fc from "fast-check";
import { type Graph, graphOf } from "../../../packages/workflow/src/graph/graph.ts";

/** Random graphs of up to ten nodes, small enough to check an algorithm by trying all paths. */
export const anyGraph: fc.Arbitrary<Graph> = fc
  .integer({ min: 1, max: 10 })
  .chain((size) => {
    const id = fc.nat(size - 1).map((index) => `n${index}`);
    return fc.tuple(fc.constant(size), fc.array(fc.record({ from: id, to: id }), { maxLength: 20 }));
  })
  .map(([size, edges]) =>
    graphOf(
      Array.from({ length: size }, (_, index) => ({ id: `n${index}` })),
      edges,
    ),
  );

/** Random graphs without cycles: every edge leads to a node with a higher number. */
export const acyclicGraph: fc.Arbitrary<Graph> = anyGraph.map((graph) => {
  const number = (id: string) => Number(id.slice(1));
  const arrows = graph.ids.flatMap((from) => (graph.successors.get(from) ?? []).map((to) => ({ from, to })));
  return graphOf(
    graph.ids.map((id) => ({ id })),
    arrows.filter(({ from, to }) => number(from) < number(to)),
  );
});

export function waysFrom(graph: Graph, from: string): string[][] {
  const next = graph.successors.get(from) ?? [];
  return next.length === 0 ? [[from]] : next.flatMap((id) => waysFrom(graph, id).map((way) => [from, ...way]));
}

export function firstCommon(ways: string[][]): string | null {
  return ways[0]?.find((id) => ways.every((way) => way.includes(id))) ?? null;
}

/** True if a path leads from the node `from` to an end without passing the node `closed`. */
export function comesToEnd(graph: Graph, from: string, closed?: string): boolean {
  const reached = new Set([from].filter((id) => id !== closed));
  for (const id of reached) for (const next of graph.successors.get(id) ?? []) if (next !== closed) reached.add(next);
  return [...reached].some((id) => graph.successors.get(id)?.length === 0);
}

/** True if every path from `from` to an end passes the node `id`. */
export function isUnavoidable(graph: Graph, from: string, id: string): boolean {
  return comesToEnd(graph, from) && !comesToEnd(graph, from, id);
}

/** True if a path leads from the first node to the second. A node leads to itself only if it is on a cycle. */
export function leadsTo(graph: Graph, from: string, to: string, seen = new Set<string>()): boolean {
  return (graph.successors.get(from) ?? []).some((next) => {
    if (next === to) return true;
    if (seen.has(next)) return false;
    seen.add(next);
    return leadsTo(graph, next, to, seen);
  });
}

export function longRow(length: number): Graph {
  const nodes = Array.from({ length }, (_, index) => ({ id: `n${index}` }));
  return graphOf(
    nodes,
    nodes.slice(1).map(({ id }, index) => ({ from: `n${index}`, to: id })),
  );
}
