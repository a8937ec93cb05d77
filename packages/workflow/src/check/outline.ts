import { nearest } from "../findings/suggest.ts";
import { type Graph, graphOf } from "../graph/graph.ts";
import type { ReadEdge } from "../parse/edges.ts";
import type { ReadNode } from "../parse/nodes.ts";

/** A node that can be spoken of, though its fields may be wrong. */
export type NamedNode = ReadNode & { id: string };

/** What the checks of the whole look at: all that could be read, right or not. */
export interface Outline {
  /** Path of the list of nodes. */
  path: string;
  nodes: NamedNode[];
  edges: ReadEdge[];
  /** The first node of an id. */
  byId: Map<string, NamedNode>;
  /** Edges by the id they leave. */
  edgesOf: Map<string, ReadEdge[]>;
  /** With a misspelt id corrected: one typing mistake should not be reported again as an unreachable node. */
  graph: Graph;
  /** The same without edges that may repeat. */
  forward: Graph;
}

export function outlineOf(read: readonly ReadNode[], edges: ReadEdge[], path: string): Outline {
  const nodes = read.filter((node): node is NamedNode => node.id !== undefined);
  const byId = new Map(nodes.toReversed().map((node) => [node.id, node]));
  const edgesOf = Map.groupBy(edges, (edge) => edge.from ?? "");
  const ids = [...byId.keys()];
  const meant = (id: string | undefined) => (id === undefined || byId.has(id) ? id : nearest(id, ids));
  const arrows = (some: readonly ReadEdge[]) =>
    some.map(({ from, to }) => ({ from: meant(from) ?? "", to: meant(to) ?? "" }));
  const targets = nodes.map(({ id, onError }) => ({
    id,
    ...(onError !== undefined && { onError: meant(onError) ?? "" }),
  }));
  const graph = graphOf(targets, arrows(edges));
  return {
    path,
    nodes,
    edges,
    byId,
    edgesOf,
    graph,
    forward: graphOf(targets, arrows(edges.filter((edge) => !edge.repeats))),
  };
}
