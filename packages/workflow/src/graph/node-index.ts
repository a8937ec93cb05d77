import type { Body, Edge, Node, Workflow } from "../workflow.ts";

export interface IndexedNode {
  node: Node;
  /** Edges that leave it. */
  edges: Edge[];
  /** Id of the map whose body it is in. */
  body: string | null;
}

const indexes = new WeakMap<Workflow, ReadonlyMap<string, IndexedNode>>();

/** Every node of a checked workflow, those in the bodies of maps included, by its id. */
export function nodeIndex(workflow: Workflow): ReadonlyMap<string, IndexedNode> {
  const known = indexes.get(workflow) ?? new Map(Array.from(nodesIn(workflow, null), (one) => [one.node.id, one]));
  indexes.set(workflow, known);
  return known;
}

function* nodesIn({ nodes, edges }: Body, body: string | null): Iterable<IndexedNode> {
  const leaving = Map.groupBy(edges, ({ from }) => from);
  for (const node of nodes) {
    yield { node, edges: leaving.get(node.id) ?? [], body };
    if (node.type === "map") yield* nodesIn(node.body, node.id);
  }
}
