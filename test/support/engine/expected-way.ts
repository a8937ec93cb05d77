import type { Head } from "@nova/engine";
import { forksOf, nodeIndex, type Workflow } from "@nova/workflow";

/**
 * Returns the next node that an entry must name. Derives that node from the definition, independently of the engine.
 */
export function expectedWay(workflow: Workflow, head: Head): string | null {
  return head.node_type === "join" ? wayOfJoin(workflow, head) : wayOfNode(workflow, head);
}

function wayOfNode(workflow: Workflow, head: Head): string | null {
  const { node, edges = [] } = nodeIndex(workflow).get(head.node_id) ?? {};
  if (head.status === "failed") return placeOf(workflow, node && "onError" in node ? node.onError : undefined);
  if (node?.type === "map") return `${head.node_id}.join`;
  if (head.decision_result !== null) {
    return placeOf(workflow, edges.find(({ condition }) => String(condition) === head.decision_result)?.to);
  }
  return edges.length > 1 ? `${head.node_id}.join` : placeOf(workflow, edges[0]?.to);
}

function wayOfJoin(workflow: Workflow, head: Head): string | null {
  const id = head.node_id.slice(0, -".join".length);
  const { node, edges = [] } = nodeIndex(workflow).get(id) ?? {};
  if (head.status === "failed") return placeOf(workflow, node?.type === "map" ? node.onError : undefined);
  if (node?.type !== "map") return placeOf(workflow, forksOf(workflow).get(id)?.next ?? undefined);
  return edges.length > 1 ? `${head.node_id}.join` : placeOf(workflow, edges[0]?.to);
}

/** Returns the id of a node. Returns null for the `end` of a map's body, which a run does not visit. */
function placeOf(workflow: Workflow, id: string | undefined): string | null {
  const found = id === undefined ? undefined : nodeIndex(workflow).get(id);
  return !found || (found.node.type === "end" && found.body !== null) ? null : found.node.id;
}
