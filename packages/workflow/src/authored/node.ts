import type { z } from "zod";
import type { AuthoredAction } from "./action.ts";
import type { AuthoredApproval } from "./approval.ts";
import type { AuthoredDecision } from "./decision.ts";
import type { AuthoredEdge } from "./edge.ts";
import type { AuthoredEnd } from "./end.ts";
import type { AuthoredMap as MapSchema } from "./map.ts";
import type { AuthoredStart } from "./start.ts";
import type { AuthoredWait } from "./wait.ts";

/** A map as people write it: its schema leaves the body open, because each of its nodes is parsed on its own. */
export interface AuthoredMap extends Omit<z.input<typeof MapSchema>, "nodes" | "edges"> {
  nodes: AuthoredNode[];
  edges: AuthoredEdge[];
}

export type AuthoredNode =
  | AuthoredStart
  | AuthoredAction
  | AuthoredDecision
  | AuthoredMap
  | AuthoredApproval
  | AuthoredWait
  | AuthoredEnd;
