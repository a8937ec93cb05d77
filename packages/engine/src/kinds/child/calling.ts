import type { WorkflowNode } from "@nova/workflow";
import type { Position } from "../../chain/position.ts";
import type { Turn } from "../../ports/chain.ts";
import type { NodeDefinition } from "../../protocol/definition.ts";

/** A workflow node that holds its turn. */
export interface Calling {
  position: Position;
  definition: NodeDefinition;
  node: WorkflowNode;
  turn: Turn;
}
