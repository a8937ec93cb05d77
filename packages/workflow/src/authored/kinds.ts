import { z } from "zod";
import { defined } from "../defined.ts";
import { approvalKind } from "./approval.ts";
import { type AuthoredEdge, fanOutFields, nodeFields } from "./fields.ts";
import type { NodeKind, PlainKind } from "./kind.ts";
import { mapKind } from "./map.ts";
import { actionKind, decisionKind } from "./task.ts";
import { waitKind } from "./wait.ts";
import { workflowKind } from "./workflow-node.ts";

const runsNothing = "it runs nothing that could fail";

const AuthoredStart = z
  .strictObject({
    ...nodeFields,
    type: z.enum(["start", "StartNode"]).describe("The first node of a run."),
    ...fanOutFields,
  })
  .describe("The first node of a run. A workflow has exactly one, without an incoming edge.");

const startKind: PlainKind<typeof AuthoredStart> = {
  type: "start",
  schema: AuthoredStart,
  edgesIn: "none",
  edgesOut: "one",
  holds: "nothing",
  noRetry: runsNothing,
  normalise: (same) => defined({ ...same, type: "start" as const }),
};

const AuthoredEnd = z
  .strictObject({ ...nodeFields, type: z.enum(["end", "EndNode"]).describe("The last node of a run.") })
  .describe("The last node of a run. A workflow has at least one; no edge leaves it.");

const endKind: PlainKind<typeof AuthoredEnd> = {
  type: "end",
  schema: AuthoredEnd,
  edgesOut: "none",
  holds: "nothing",
  noRetry: runsNothing,
  normalise: (same) => defined({ ...same, type: "end" as const }),
};

type MapInput = Authored<"map">;
type ChildField = "workflow" | "version" | "input" | "output";

/** An authored map. Its schema does not describe the body, because each of its nodes is parsed separately. */
export interface AuthoredMap extends Omit<MapInput, "nodes" | "edges" | ChildField> {
  nodes: AuthoredNode[];
  edges: AuthoredEdge[];
}

export interface AuthoredWorkflowMap extends Omit<MapInput, "nodes" | "edges" | "workflow"> {
  workflow: string;
}

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
