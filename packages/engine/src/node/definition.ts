import type { Edge, Node } from "@nova/workflow";
import { NovaError } from "../errors.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";

export interface NodeDefinition {
  version: WorkflowVersion;
  node: Node;
  /** The edges that leave it. */
  edges: Edge[];
}

/** A node of the version that this execution runs. */
export async function definitionOf(
  ports: Pick<Ports, "workflows">,
  { execution, node: id }: { execution: { workflowId: string; version: number }; node: string },
): Promise<NodeDefinition> {
  const version = await ports.workflows.get(execution.workflowId, execution.version);
  const node = version?.workflow.nodes.find((candidate) => candidate.id === id);
  if (!version || !node) {
    throw new NovaError(
      "ChainBroken",
      `workflow ${execution.workflowId} version ${execution.version} has no node "${id}"`,
    );
  }
  return { version, node, edges: version.workflow.edges.filter((edge) => edge.from === id) };
}
