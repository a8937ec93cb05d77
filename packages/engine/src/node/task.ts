import type { Edge, TaskNode } from "@nova/workflow";
import type { Position } from "../chain/position.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";

/** A node that runs code, at its place in the chain. */
export interface Task {
  position: Position;
  node: TaskNode;
  version: WorkflowVersion;
  /** The edges that leave it. */
  edges: Edge[];
}
