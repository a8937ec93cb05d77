import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import { edgeName } from "../parse/edges.ts";
import type { Outline } from "./outline.ts";

/** One start, at least one end, and edges that go the right way at both. Bodies of maps begin and end by themselves. */
export function* checkEnds(outline: Outline): Iterable<Finding> {
  if (outline.map === undefined) yield* checkPresence(outline);
  yield* checkDirections(outline);
}

function* checkPresence({ path, nodes, byId }: Outline): Iterable<Finding> {
  const isStart = (id: string | undefined) => byId.get(id ?? "")?.kind?.edgesIn === "none";
  const isEnd = (id: string | undefined) => byId.get(id ?? "")?.kind?.edgesOut === "none";
  const [first, ...others] = nodes.filter((node) => isStart(node.id));
  if (!first)
    yield finding("NOVA201", path, 'the workflow has no start - add a node { "id": "start", "type": "start" }');
  for (const other of others) {
    if (other.id === first?.id) continue;
    const message = `"${other.id}" is a second start beside "${first?.id}" - keep one, and let a decision behind it choose`;
    yield finding("NOVA202", at(other.path, "type"), message);
  }
  if (!nodes.some((node) => isEnd(node.id))) {
    yield finding(
      "NOVA203",
      path,
      'the workflow has no end - add a node { "id": "end", "type": "end" } and an edge to it',
    );
  }
}

function* checkDirections({ edges, byId, map }: Outline): Iterable<Finding> {
  const isStart = (id: string | undefined) => byId.get(id ?? "")?.kind?.edgesIn === "none";
  const isEnd = (id: string | undefined) => byId.get(id ?? "")?.kind?.edgesOut === "none";
  for (const edge of edges) {
    if (map === undefined && isStart(edge.to))
      yield finding(
        "NOVA204",
        at(edge.path, "to"),
        `${edgeName(edge)} leads into a start - lead it elsewhere, or remove it`,
      );
    if (isEnd(edge.from))
      yield finding(
        "NOVA205",
        at(edge.path, "from"),
        `${edgeName(edge)} leaves an end - put the node before the end, or remove the edge`,
      );
  }
}
