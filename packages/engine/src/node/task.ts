import type { Edge, TaskNode } from "@nova/workflow";
import { inputAfter, type LoadedContext, type Position } from "../chain/position.ts";
import type { Context } from "../context/context.ts";
import { contextBefore } from "../map/item-input.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";

/** A node that runs code, at its place in the chain. */
export interface Task {
  position: Position;
  node: TaskNode;
  version: WorkflowVersion;
  /** The edges that leave it. */
  edges: Edge[];
}

/** What the node finds, and the context that its entry builds on. A decision never sees the one before it. */
export async function taskInput(
  ports: Ports,
  { position, node }: Task,
): Promise<{ kept: LoadedContext; input: Context }> {
  const kept = await contextBefore(ports, position);
  const input = await inputAfter(position.beforeEntry, kept.context, ports.blobs);
  return { kept, input: node.type === "decision" ? input.without("branch_decision") : input };
}
