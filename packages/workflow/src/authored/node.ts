import type { z } from "zod";
import type { AuthoredAction } from "./action.ts";
import type { AuthoredApproval } from "./approval.ts";
import type { AuthoredDecision } from "./decision.ts";
import type { AuthoredEdge } from "./edge.ts";
import type { AuthoredEnd } from "./end.ts";
import type { AuthoredMap as MapSchema } from "./map.ts";
import type { AuthoredStart } from "./start.ts";
import type { AuthoredWait } from "./wait.ts";
import type { AuthoredWorkflowNode } from "./workflow-node.ts";

type MapInput = z.input<typeof MapSchema>;
type ChildField = "workflow" | "version" | "input" | "output";

/** A map as people write it: its schema leaves the body open, because each of its nodes is parsed on its own. */
export interface AuthoredMap extends Omit<MapInput, "nodes" | "edges" | ChildField> {
  nodes: AuthoredNode[];
  edges: AuthoredEdge[];
}

/** A map that runs another workflow for each item. */
export interface AuthoredWorkflowMap extends Omit<MapInput, "nodes" | "edges" | "workflow"> {
  workflow: string;
}

export type AuthoredNode =
  | AuthoredStart
  | AuthoredAction
  | AuthoredDecision
  | AuthoredMap
  | AuthoredWorkflowMap
  | AuthoredApproval
  | AuthoredWait
  | AuthoredWorkflowNode
  | AuthoredEnd;
