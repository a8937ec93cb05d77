import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import { didYouMean } from "../findings/suggest.ts";
import { edgeName } from "../parse/edges.ts";
import type { ReadEdge } from "../parse/read.ts";
import type { NamedNode, Outline } from "./outline.ts";

/** Both ends of an edge are nodes, and of the same body as the edge. */
export function* checkNames({ edges, byId, homeOf, title }: Outline): Iterable<Finding> {
  const ids = [...byId.keys()];
  for (const edge of edges) {
    for (const end of ["from", "to"] as const) {
      const id = edge[end];
      if (id === undefined || byId.has(id)) continue;
      const home = homeOf.get(id);
      if (home !== undefined) {
        const message = `${edgeName(edge)} is in ${title}, but "${id}" is in ${home} - ${stayInside}`;
        yield finding("NOVA233", at(edge.path, end), message);
        continue;
      }
      const wayOut = didYouMean(id, ids) || " - add the node, or correct the id";
      yield finding("NOVA206", at(edge.path, end), `${edgeName(edge)} names the unknown node "${id}"${wayOut}`);
    }
  }
}

export const stayInside = "an item begins and ends inside of its map, and the map's own edges go on";

/** Edges out of nodes that do not choose have no condition; several of them are branches. */
export function* checkPlainEdges({ byId, edgesOf }: Outline): Iterable<Finding> {
  for (const node of byId.values()) {
    if (node.kind?.edgesOut !== "one") continue;
    const edges = edgesOf.get(node.id) ?? [];
    yield* conditionsOutOfPlace(edges);
    yield* secondEdges(
      node,
      edges.filter((edge) => edge.condition === undefined && !edge.repeats),
    );
  }
}

function* conditionsOutOfPlace(edges: readonly ReadEdge[]): Iterable<Finding> {
  for (const edge of edges) {
    if (edge.condition === undefined) continue;
    const message = `${edgeName(edge)} has a condition, but "${edge.from}" is no decision and no approval - remove the condition, or make it a decision`;
    yield finding("NOVA303", at(edge.path, "condition"), message);
  }
}

function* secondEdges(node: NamedNode, edges: readonly ReadEdge[]): Iterable<Finding> {
  const targets = new Set<string>();
  for (const { to, path } of edges) {
    if (to === undefined) continue;
    if (targets.has(to))
      yield finding("NOVA207", path, `${edgeName({ from: node.id, to })} is written twice - remove one of the two`);
    targets.add(to);
  }
}
