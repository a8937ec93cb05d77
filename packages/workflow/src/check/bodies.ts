import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import { list, type Outline } from "./outline.ts";
import { entriesOf } from "./scopes.ts";

/** The body of a map does something, and has one beginning, which is no start. */
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
