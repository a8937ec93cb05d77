import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import { shown } from "../findings/shown.ts";
import { conditionLabel, defaultLabel } from "../graph/condition.ts";
import { edgeName } from "../parse/edges.ts";
import type { ReadEdge } from "../parse/read.ts";
import { checkChoices } from "./choices.ts";
import type { NamedNode, Outline } from "./outline.ts";

/** Every value that a decision may set, and every answer of an approval, finds exactly one edge. */
export function* checkDecisions({ byId, edgesOf }: Outline): Iterable<Finding> {
  for (const node of byId.values()) {
    const { edgesOut, type } = node.kind ?? {};
    if (edgesOut !== "conditions" && edgesOut !== "choices") continue;
    const edges = edgesOf.get(node.id) ?? [];
    const open = edges.filter((edge) => edge.condition === undefined && edge.edge !== undefined);
    const values = edgesOut === "choices" ? "choice" : "value of branch_decision";
    if (edges.length === 0) {
      yield finding("NOVA301", node.path, `the ${type} "${node.id}" has no edges - add one for each ${values}`);
    }
    for (const edge of open) {
      const message = `${edgeName(edge)} leaves the ${type} without a condition - add "condition": a ${values}, or "default" for all others`;
      yield finding("NOVA301", edge.path, message);
    }
    yield* checkClashes(edges);
    if (edgesOut === "choices") yield* checkChoices(node, edges);
    else if (open.length === 0) yield* checkGap(node, edges);
  }
}

function* checkClashes(edges: readonly ReadEdge[]): Iterable<Finding> {
  const firstOf = new Map<string, ReadEdge>();
  for (const edge of edges) {
    if (edge.condition === undefined) continue;
    const label = conditionLabel(edge.condition);
    const first = firstOf.get(label);
    if (first === undefined) firstOf.set(label, edge);
    else if (first.to === edge.to) {
      yield finding(
        "NOVA207",
        edge.path,
        `${edgeName(edge)} is written twice for ${shown(edge.condition)} - remove one of the two`,
      );
    } else {
      const message = `"${edge.from}" leads for ${shown(edge.condition)} both to "${first.to}" and to "${edge.to}" - keep one, or change a condition`;
      yield finding("NOVA304", at(edge.path, "condition"), message);
    }
  }
}

function* checkGap(node: NamedNode, edges: readonly ReadEdge[]): Iterable<Finding> {
  const labels = new Set(
    edges.flatMap((edge) => (edge.condition === undefined ? [] : [conditionLabel(edge.condition)])),
  );
  const isTruth = labels.has("true") && labels.has("false") && labels.size === 2;
  if (labels.size === 0 || labels.has(defaultLabel) || isTruth) return;
  const only = labels.size === 1 ? [...labels][0] : undefined;
  const missing = only === "true" ? "false" : only === "false" ? "true" : '"default"';
  const message = `the decision "${node.id}" has no edge for other values than ${[...labels].join(", ")}: a run would fail there - add one with "condition": ${missing}`;
  yield finding("NOVA302", node.path, message);
}
