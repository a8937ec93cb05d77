import { graphOf } from "@nova/workflow";
import type { Draft, DraftEdge } from "../ports/sessions.ts";
import { cycleThrough, isStart, nextOf } from "./draft.ts";

/**
 * Finds the edges that lead back to a node on the way from the start to the edge. An edge of a cycle in which no edge
 * has `max` is none of them, so that the cycle stays and is reported.
 */
export function findEdgesBack(draft: Draft): Set<DraftEdge> {
  const leaving = Map.groupBy(draft.edges, ({ from }) => from);
  const onErrorOf = new Map(draft.nodes.map(({ id, onError }) => [id, onError]));
  const back = new Set<DraftEdge>();
  const [path, seen] = [new Set<string>(), new Set<string>()];
  const visit = (id: string) => {
    if (seen.has(id)) return;
    seen.add(id);
    path.add(id);
    for (const edge of leaving.get(id) ?? []) {
      if (!path.has(edge.to)) visit(edge.to);
      else if (!cycleThrough(draft, edge)) back.add(edge);
    }
    const onError = onErrorOf.get(id);
    if (typeof onError === "string") visit(onError);
    path.delete(id);
  };
  const ids = draft.nodes.map(({ id }) => id);
  const entered = new Set([...nextOf(draft).values()].flat());
  const targets = new Set(draft.edges.map(({ to }) => to));
  const starts = draft.nodes.filter(isStart).map(({ id }) => id);
  const first = ids.filter((id) => !entered.has(id));
  for (const id of [...starts, ...first.filter((one) => !targets.has(one)), ...first, ...ids]) visit(id);
  return back;
}

/** Returns the edges of a draft whose loops go round once: each edge in `back` leads on to the node after its loop. */
export function unrollLoops(
  { nodes, edges }: Pick<Draft, "nodes" | "edges">,
  back: ReadonlySet<DraftEdge>,
  end: string,
): DraftEdge[] {
  if (back.size === 0) return [...edges];
  const { predecessors } = graphOf(nodes as { id: string; onError?: string }[], edges);
  const exitOf = (first: string) => {
    const last = [...back].filter(({ to }) => to === first).map(({ from }) => from);
    const inside = new Set([first, ...last]);
    for (const id of inside) if (id !== first) for (const before of predecessors.get(id) ?? []) inside.add(before);
    return edges.find((edge) => inside.has(edge.from) && !inside.has(edge.to) && !back.has(edge))?.to ?? end;
  };
  const exits = new Map(Array.from(back, ({ to }) => [to, exitOf(to)]));
  const once = edges.map((edge): DraftEdge => {
    const { max: _, ...rest } = edge;
    return back.has(edge) ? { ...rest, to: exits.get(edge.to) as string } : rest;
  });
  return [...new Map(once.map((edge) => [JSON.stringify(edge), edge])).values()];
}
