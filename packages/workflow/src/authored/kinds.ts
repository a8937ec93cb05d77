import type { z } from "zod";
import { approvalKind } from "./approval.ts";
import type { AuthoredEdge } from "./edge.ts";
import type { NodeKind } from "./kind.ts";
import { mapKind } from "./map.ts";
import { endKind, startKind } from "./start-end.ts";
import { actionKind, decisionKind } from "./task.ts";
import { waitKind } from "./wait.ts";
import { workflowKind } from "./workflow-node.ts";

type MapInput = Authored<"map">;
type ChildField = "workflow" | "version" | "input" | "output";

/** An authored map. Its schema does not describe the body, because each of its nodes is parsed separately. */
export interface AuthoredMap extends Omit<MapInput, "nodes" | "edges" | ChildField> {
  nodes: AuthoredNode[];
  edges: AuthoredEdge[];
}

/** A map that runs another workflow for each item. */
export interface AuthoredWorkflowMap extends Omit<MapInput, "nodes" | "edges" | "workflow"> {
  workflow: string;
}

/** An authored node of one kind. */
export type Authored<Kind extends keyof typeof kinds> = z.input<(typeof kinds)[Kind]["schema"]>;

export type AuthoredNode = Authored<Exclude<keyof typeof kinds, "map">> | AuthoredMap | AuthoredWorkflowMap;

export const kinds = {
  start: startKind,
  action: actionKind,
  decision: decisionKind,
  map: mapKind,
  approval: approvalKind,
  wait: waitKind,
  workflow: workflowKind,
  end: endKind,
} as const;

const byName = new Map<string, NodeKind>(
  Object.values(kinds).flatMap((kind) =>
    kind.schema.shape.type.options.map((name) => [name, kind as unknown as NodeKind] as const),
  ),
);

export const kindNames = Object.keys(kinds);

export function kindOf(type: unknown): NodeKind | undefined {
  return typeof type === "string" ? byName.get(type) : undefined;
}
