import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/text.ts";
import { edgeName } from "../parse/body.ts";
import { list, type Outline } from "./outline.ts";
import { entriesOf } from "./scopes.ts";

/** Checks for one start and at least one end. Bodies of maps need neither. */
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

/** Checks that no edge leads into a start or leaves an end. */
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
    const message = `${title} has the start "${id}", but an item begins at the node without edges in - remove the start and its edge`;
    yield finding("NOVA232", at(path, "type"), message);
  }
  if (nodes.every(({ kind }) => kind?.edgesOut === "none")) {
    yield finding("NOVA230", map.path, `${title} has no node that does something - add one to its nodes`);
    return;
  }
  const [, second, ...others] = entriesOf(outline).filter(({ kind }) => kind?.edgesIn !== "none");
  if (!second) return;
  const ids = list([second, ...others].map(({ id }) => id));
  const message = `${title} has more than one node without an edge in, and an item begins at one only - add an edge to ${ids}`;
  yield finding("NOVA231", second.path, message);
}
