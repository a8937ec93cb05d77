import type { Edge, Workflow } from "../workflow.ts";
import { graphOf } from "./graph.ts";
import { nodeIndex } from "./node-index.ts";
import { canReach } from "./reach.ts";

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
  const index = nodeIndex(workflow);
  const home = index.get(id)?.body ?? null;
  const inBody = [...index.values()].filter(({ body }) => body === home);
  const points = inBody.map(({ node }) => ({
    id: node.id,
    ...("onError" in node && node.onError !== undefined && { onError: node.onError }),
  }));
  const before = canReach(graphOf(points, onwardEdges(inBody.flatMap(({ edges }) => edges))), [id]);
  before.delete(id);
  return before;
}
