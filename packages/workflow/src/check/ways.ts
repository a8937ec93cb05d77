import { type Finding, finding } from "../findings/finding.ts";
import { findCycles, groupsOf, reachableFrom } from "../graph/graph.ts";
import { countingEdge } from "./loops.ts";
import { list, type Outline, pathOf } from "./outline.ts";

/** Checks that every node is on a path from the start to an end, and that there is no cycle. */
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
      ? `limit the rounds: add "max": 5, or another number, to the edge from "${counting.from}" to "${counting.to}"`
      : 'remove one of them, or let a decision or an approval in the cycle choose, with "max" on its edge';
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
    const more = others.length === 0 ? "" : `, and so none to ${list(others)} after it`;
    const message = `no path from the start leads to "${head}"${more} - add an edge to it, or remove it`;
    yield finding("NOVA209", pathOf(outline, head), message);
  }
}

/**
 * A node that cannot reach an end leads to a node without edges, because there are no cycles. The finding names that
 * node.
 */
function* checkDeadEnds({ byId, edgesOf }: Outline): Iterable<Finding> {
  for (const node of byId.values()) {
    if (node.kind?.edgesOut !== "one" || (edgesOf.get(node.id) ?? []).length > 0) continue;
    const message = `"${node.id}" leads nowhere, so a run could not reach an end - add an edge from it to the next node or to an end`;
    yield finding("NOVA210", node.path, message);
  }
}
