import type { Body, Condition, Edge, Node, StartNode, Workflow } from "../workflow.ts";
import { canReach, type Graph, graphOf } from "./graph.ts";

/** The condition that catches what no other edge of a decision matches. */
export const defaultLabel = "default";

/** The condition of the edge that an approval takes when nobody has answered in time. */
export const timeoutLabel = "timeout";

/**
 * The text by which state machine and engine name an edge of a decision: a string as it is, `true`, `false`, or a
 * number's shortest JSON text. `true` and `"true"` are one condition, so are 1 and `"1"`. No condition is the default.
 */
export function conditionLabel(condition: Condition | undefined): string {
  if (condition === undefined) return defaultLabel;
  return typeof condition === "string" ? condition : JSON.stringify(condition);
}

export interface IndexedNode {
  node: Node;
  /** Edges that leave it. */
  edges: Edge[];
  /** Id of the map whose body it is in. */
  body: string | null;
  /** An end in there is no step: it says that the item is done. */
  isDone: boolean;
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
    yield { node, edges: leaving.get(node.id) ?? [], body, isDone: body !== null && node.type === "end" };
    if (node.type === "map") yield* nodesIn(node.body, node.id);
  }
}

export function startOf({ nodes }: Pick<Body, "nodes">): StartNode | undefined {
  return nodes.find((node) => node.type === "start");
}

export function onErrorOf(node: Node): string | undefined {
  return "onError" in node ? node.onError : undefined;
}

/** The edges that lead on. One with a `max` leads back, or into a detour that does, so the shape of a workflow does not depend on it. */
export function onwardEdges(edges: readonly Edge[]): Edge[] {
  return edges.filter(({ max }) => max === undefined);
}

export function loopsIn(edges: readonly Edge[]): Edge[] {
  return edges.filter(({ max }) => max !== undefined);
}

/**
 * Nodes of the same body from which ways lead to this one without going back: a loop that begins at `id` passes none
 * but these again.
 */
export function nodesBefore(workflow: Workflow, id: string): ReadonlySet<string> {
  const before = canReach(graphAround(workflow, id, onwardEdges), [id]);
  before.delete(id);
  return before;
}

/** Whether ways lead from this node back to it, so that one run may come to it more than once. */
export function isInLoop(workflow: Workflow, id: string): boolean {
  const graph = graphAround(workflow, id, (edges) => edges);
  const before = canReach(graph, [id]);
  return graph.successors.get(id)?.some((next) => before.has(next)) ?? false;
}

/** The body that a node is in, as far as these edges go. */
function graphAround(workflow: Workflow, id: string, chosen: (edges: Edge[]) => Edge[]): Graph {
  const index = nodeIndex(workflow);
  const home = index.get(id)?.body ?? null;
  const inBody = [...index.values()].filter(({ body }) => body === home);
  const points = inBody.map(({ node }) => ({ id: node.id, onError: onErrorOf(node) }));
  return graphOf(points, chosen(inBody.flatMap(({ edges }) => edges)));
}
