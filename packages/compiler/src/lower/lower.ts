import { conditionLabel, defaultLabel, type Edge, type Node, type Workflow } from "@nova/workflow";
import type { Plan, PlannedDecision, PlannedNode } from "./plan.ts";

/** Resolves the edges of a checked workflow; throws `UncheckedWorkflow` where only a missing check can be the reason. */
export function lower(workflow: Workflow): Plan {
  const edges = Map.groupBy(workflow.edges, (edge) => edge.from);
  const nodes = workflow.nodes.map((node) => lowerNode(node, edges.get(node.id) ?? []));
  const start = nodes.find((node) => node.type === "start");
  if (!start) throw new UncheckedWorkflow(`workflow "${workflow.id}" has no start node`);
  return {
    comment: workflow.description ?? workflow.name,
    startAt: start.id,
    ...(workflow.timeoutSeconds !== undefined && { timeoutSeconds: workflow.timeoutSeconds }),
    nodes,
  };
}

/** A workflow reached the compiler's back end without having passed its findings. */
export class UncheckedWorkflow extends Error {
  override name = "UncheckedWorkflow";
}

function lowerNode(node: Node, edges: Edge[]): PlannedNode {
  const comment = node.description ?? node.name;
  const common = { id: node.id, ...(comment !== undefined && { comment }) };
  switch (node.type) {
    case "start":
      return { ...common, type: "start", next: onlyTarget(node, edges) };
    case "end":
      return { ...common, type: "end" };
    case "action":
      return { ...common, type: "action", next: onlyTarget(node, edges), ...failureEdge(node) };
    case "decision":
      return { ...common, type: "decision", ...branchesOf(node, edges), ...failureEdge(node) };
    case "map":
    case "approval":
    case "wait":
      throw new UncheckedWorkflow(`node "${node.id}": the compiler does not know ${node.type} nodes`);
  }
}

function failureEdge(node: { onError?: string }): { onError?: string } {
  return node.onError === undefined ? {} : { onError: node.onError };
}

function onlyTarget(node: Node, edges: Edge[]): string {
  const [edge, ...others] = edges;
  if (!edge || others.length > 0) {
    throw new UncheckedWorkflow(`node "${node.id}" has ${edges.length} edges where its type has exactly one`);
  }
  return edge.to;
}

function branchesOf(node: Node, edges: Edge[]): Pick<PlannedDecision, "branches" | "otherwise"> {
  const labelled = edges.map((edge) => ({ label: conditionLabel(edge.condition), target: edge.to }));
  if (labelled.length === 0) throw new UncheckedWorkflow(`decision "${node.id}" has no edges`);
  const otherwise = labelled.find((branch) => branch.label === defaultLabel);
  return {
    branches: labelled.filter((branch) => branch !== otherwise),
    ...(otherwise && { otherwise: otherwise.target }),
  };
}
