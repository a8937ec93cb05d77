import type { NodeType } from "../../workflow.ts";
import { checkApproval } from "./approval.ts";
import type { FieldCheck } from "./field-check.ts";
import { checkMap } from "./map.ts";
import { checkTask } from "./task.ts";
import { checkWait } from "./wait.ts";
import { checkWorkflowNode } from "./workflow-node.ts";

/** By type of node. */
export const fieldChecks: Partial<Record<NodeType, FieldCheck>> = {
  action: checkTask,
  decision: checkTask,
  map: checkMap,
  approval: checkApproval,
  wait: checkWait,
  workflow: checkWorkflowNode,
};
