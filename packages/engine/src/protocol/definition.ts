import { type Edge, forksOf, joinOf, type Node, nodeIndex } from "@nova/workflow";
import type { Head } from "../chain/head.ts";
import type { Position } from "../chain/position.ts";
import { chainBroken } from "../errors.ts";
import type { Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";

export interface NodeDefinition<N extends Node = Node> {
  version: WorkflowVersion;
  node: N;
  /** The edges that leave it. */
  edges: Edge[];
}

/** A node that holds its turn, at its place in the chain. */
export interface HeldNode<N extends Node = Node> extends NodeDefinition<N> {
  position: Position;
  turn: Turn;
}

/** A node of the version that this execution runs, in the body of a map or not. */
export async function definitionOf(
  ports: Ports,
  { execution, node: id }: { execution: { workflowId: string; version: number }; node: string },
): Promise<NodeDefinition> {
  const version = await ports.workflows.get(execution.workflowId, execution.version);
  const found = version && nodeIndex(version.workflow).get(id);
  if (!found) {
    throw chainBroken(`workflow ${execution.workflowId} version ${execution.version} has no node "${id}"`);
  }
  return { version, node: found.node, edges: found.edges };
}

/** The version that an entry names. */
export async function versionOf(
  ports: Ports,
  { workflow_id, workflow_version }: Pick<Head, "workflow_id" | "workflow_version">,
): Promise<WorkflowVersion> {
  const version = await ports.workflows.get(workflow_id, workflow_version);
  if (version) return version;
  throw chainBroken(`workflow ${workflow_id} has no version ${workflow_version} any more`);
}

/** What comes behind a node that does not decide: `<node>.join` where it fans out, null at the end of a map's item. */
export function wayOn({ version, node, edges }: NodeDefinition): string | null {
  return forksOf(version.workflow).has(node.id) ? joinOf(node.id) : wayTo(version, edges[0]?.to);
}

/** `target`, but for an `end` in the body of a map, which is no place: it says that the item is done. */
export function wayTo({ workflow }: WorkflowVersion, target: string | null | undefined): string | null {
  const found = target ? nodeIndex(workflow).get(target) : undefined;
  return !target || (found?.node.type === "end" && found.body !== null) ? null : target;
}
