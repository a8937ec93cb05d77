import type { Body, Condition, Edge, Node, StartNode, Workflow } from "../workflow.ts";
import { canReach, type Graph, graphOf } from "./graph.ts";

export const defaultLabel = "default";

export const timeoutLabel = "timeout";

/**
 * Returns the text by which the state machine and the engine name a decision's edge: a string as it is, `true`,
 * `false`, or the shortest JSON text of a number. So `true` and `"true"` are one condition, and so are 1 and `"1"`. A
 * missing condition is the default.
 */
export function conditionLabel(condition: Condition | undefined): string {
  if (condition === undefined) return defaultLabel;
  return typeof condition === "string" ? condition : JSON.stringify(condition);
}

export interface IndexedNode {
  node: Node;
  edges: Edge[];
  /** Id of the map that has the node in its body. */
  body: string | null;
  /** True for an end in a map's body: it is no step, and only ends the item. */
  isDone: boolean;
}

const indexes = new WeakMap<Workflow, ReadonlyMap<string, IndexedNode>>();

/** Returns every node of a checked workflow by its id, including nodes in the bodies of maps. */
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

/** Returns the edges that decide the shape of the workflow: those with a `max` lead back, or into a detour. */
export function onwardEdges(edges: readonly Edge[]): Edge[] {
  return edges.filter(({ max }) => max === undefined);
}

export function loopsIn(edges: readonly Edge[]): Edge[] {
  return edges.filter(({ max }) => max !== undefined);
}

/** Returns the nodes of the same body that lead to this one without a loop edge: a loop does not run them again. */
export function nodesBefore(workflow: Workflow, id: string): ReadonlySet<string> {
  const before = canReach(graphAround(workflow, id, onwardEdges), [id]);
  before.delete(id);
  return before;
}

/** True if edges lead from this node back to it, so that a run may visit it more than once. */
export function isInLoop(workflow: Workflow, id: string): boolean {
  const graph = graphAround(workflow, id, (edges) => edges);
  const before = canReach(graph, [id]);
  return graph.successors.get(id)?.some((next) => before.has(next)) ?? false;
}

function graphAround(workflow: Workflow, id: string, chosen: (edges: Edge[]) => Edge[]): Graph {
  const index = nodeIndex(workflow);
  const home = index.get(id)?.body ?? null;
  const inBody = [...index.values()].filter(({ body }) => body === home);
  const points = inBody.map(({ node }) => ({ id: node.id, onError: onErrorOf(node) }));
  return graphOf(points, chosen(inBody.flatMap(({ edges }) => edges)));
}
