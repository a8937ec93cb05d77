import { actionKind } from "./action.ts";
import { approvalKind } from "./approval.ts";
import { decisionKind } from "./decision.ts";
import { endKind } from "./end.ts";
import type { NodeKind } from "./kind.ts";
import { mapKind } from "./map.ts";
import { startKind } from "./start.ts";
import { waitKind } from "./wait.ts";
import { workflowKind } from "./workflow-node.ts";

/** Every kind of node that this release runs. */
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
