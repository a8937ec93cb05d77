import { type Finding, finding } from "../findings/finding.ts";
import { findCycles, groupsOf, reachableFrom } from "../graph/graph.ts";
import { countingEdge } from "./loops.ts";
import { list, type Outline, pathOf } from "./outline.ts";

/** Every node lies on a way from the start to an end, and no way leads back. */
export function* checkWays(outline: Outline): Iterable<Finding> {
  if (outline.map === undefined) {
    yield* checkReach(outline);
    yield* checkDeadEnds(outline);
  }
  for (const cycle of findCycles(outline.forward)) {
    const ring = [...cycle, cycle[0]].map((id) => `"${id}"`).join(" -> ");
    const on = new Set(cycle);
    const counting = countingEdge(outline, on, on);
    const wayOut = counting
      ? `say how often a run may go round: add "max": 5, or another number, to the edge from "${counting.from}" to "${counting.to}"`
      : 'remove one of them, or let a decision or an approval on the way choose, with "max" on its edge: how often';
    const message = `the edges form a cycle: ${ring} - ${wayOut}`;
    yield finding("NOVA211", pathOf(outline, cycle[0]), message);
  }
}

function* checkReach(outline: Outline): Iterable<Finding> {
  const starts = outline.nodes.filter((node) => node.kind?.edgesIn === "none").map((node) => node.id);
  if (starts.length === 0) return;
  const reached = reachableFrom(outline.graph, starts);
  const lost = new Set(outline.graph.ids.filter((id) => !reached.has(id)));
  for (const { head, others } of groupsOf(outline.graph, lost)) {
    const more = others.length === 0 ? "" : `, nor can ${list(others)} behind it`;
    const message = `no way from the start leads to "${head}"${more} - add an edge to it, or remove it`;
    yield finding("NOVA209", pathOf(outline, head), message);
  }
}

/** Without cycles, what cannot reach an end leads to a node without edges; that one is the mistake. */
function* checkDeadEnds({ byId, edgesOf }: Outline): Iterable<Finding> {
  for (const node of byId.values()) {
    if (node.kind?.edgesOut !== "one" || (edgesOf.get(node.id) ?? []).length > 0) continue;
    const message = `"${node.id}" leads nowhere, so a run could not reach an end - add an edge from it to the next node or to an end`;
    yield finding("NOVA210", node.path, message);
  }
}
