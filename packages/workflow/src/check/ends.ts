import { at, type Finding, finding } from "../findings/finding.ts";
import { findCycles, groupsOf, reachableFrom } from "../graph/graph.ts";
import { edgeName } from "../parse/read.ts";
import { entriesOf } from "./forks.ts";
import { countingEdge } from "./loops.ts";
import { listIds, type Outline, pathOf } from "./outline.ts";

export function* checkPresence({ path, nodes, byId, map }: Outline): Iterable<Finding> {
  if (map !== undefined) return;
  const kinds = nodes.map(({ id }) => byId.get(id)?.kind);
  const [first, ...others] = nodes.filter((_, index) => kinds[index]?.edgesIn === "none");
  if (!first)
    yield finding("NOVA201", path, 'the workflow has no start - add a node { "id": "start", "type": "start" }');
  for (const other of others) {
    if (other.id === first?.id) continue;
    const message = `"${other.id}" is a second start beside "${first?.id}" - keep one, and let a decision after it choose`;
    yield finding("NOVA202", at(other.path, "type"), message);
  }
  if (kinds.some((kind) => kind?.edgesOut === "none")) return;
  const message = 'the workflow has no end - add a node { "id": "end", "type": "end" } and an edge to it';
  yield finding("NOVA203", path, message);
}

export function* checkDirections({ edges, byId, map }: Outline): Iterable<Finding> {
  for (const edge of edges) {
    if (map === undefined && byId.get(edge.to ?? "")?.kind?.edgesIn === "none") {
      const message = `${edgeName(edge)} leads into a start - lead it elsewhere, or remove it`;
      yield finding("NOVA204", at(edge.path, "to"), message);
    }
    if (byId.get(edge.from ?? "")?.kind?.edgesOut === "none") {
      const message = `${edgeName(edge)} leaves an end - put the node before the end, or remove the edge`;
      yield finding("NOVA205", at(edge.path, "from"), message);
    }
  }
}

/** Checks that the body of a map has a node with work, and one entry, which is no start. */
export function* checkBodies(outline: Outline): Iterable<Finding> {
  const { map, title, nodes } = outline;
  if (map === undefined) return;
  for (const { id, kind, path } of nodes) {
    if (kind?.edgesIn !== "none") continue;
    const message = `${title} has the start "${id}", but an item starts at the node without an incoming edge - remove the start and its edge`;
    yield finding("NOVA232", at(path, "type"), message);
  }
  if (nodes.every(({ kind }) => kind?.edgesOut === "none")) {
    yield finding("NOVA230", map.path, `${title} has no node that does something - add one to its nodes`);
    return;
  }
  const [, second, ...others] = entriesOf(outline).filter(({ kind }) => kind?.edgesIn !== "none");
  if (!second) return;
  const ids = listIds([second, ...others].map(({ id }) => id));
  const message = `${title} has more than one node without an incoming edge, but an item starts at only one - add an edge to ${ids}`;
  yield finding("NOVA231", second.path, message);
}

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
    const more = others.length === 0 ? "" : `, and so none to ${listIds(others)} after it`;
    const message = `no path from the start leads to "${head}"${more} - add an edge to it, or remove it`;
    yield finding("NOVA209", pathOf(outline, head), message);
  }
}

/** Without cycles, a node that cannot reach an end leads to a node without edges: the finding names that node. */
function* checkDeadEnds({ byId, edgesOf }: Outline): Iterable<Finding> {
  for (const node of byId.values()) {
    if (node.kind?.edgesOut !== "one" || (edgesOf.get(node.id) ?? []).length > 0) continue;
    const message = `"${node.id}" leads nowhere, so a run could not reach an end - add an edge from it to the next node or to an end`;
    yield finding("NOVA210", node.path, message);
  }
}
