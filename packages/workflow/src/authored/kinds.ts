import { actionKind } from "./action.ts";
import { approvalKind } from "./approval.ts";
import { decisionKind } from "./decision.ts";
import { endKind } from "./end.ts";
import type { NodeKind } from "./kind.ts";
import { mapKind } from "./map.ts";
import { startKind } from "./start.ts";
import { waitKind } from "./wait.ts";

/** Every kind of node that this release runs. */
export const kinds = {
  start: startKind,
  action: actionKind,
  decision: decisionKind,
  map: mapKind,
  approval: approvalKind,
  wait: waitKind,
  end: endKind,
} as const;

/** Kinds that people write and this release does not run yet. */
const laterKinds = ["workflow"];

const byName = new Map<string, NodeKind>(
  Object.values(kinds).flatMap((kind) =>
    kind.schema.shape.type.options.map((name) => [name, kind as unknown as NodeKind] as const),
  ),
);

export const kindNames = Object.keys(kinds);

export function kindOf(type: unknown): NodeKind | undefined {
  return typeof type === "string" ? byName.get(type) : undefined;
}

/** "workflow" for `workflow` and `WorkflowNode`; undefined for what no release is to know. */
export function laterKindOf(type: unknown): string | undefined {
  return laterKinds.find((kind) => kind === type || `${kind}node` === String(type).toLowerCase());
}
