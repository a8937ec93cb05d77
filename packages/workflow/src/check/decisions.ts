import { type Finding, finding } from "../findings/finding.ts";
import { at, didYouMean, formatValue } from "../findings/text.ts";
import { conditionLabel, defaultLabel, timeoutLabel } from "../graph/edges.ts";
import { edgeName } from "../parse/body.ts";
import type { ReadEdge } from "../parse/read.ts";
import type { ApprovalNode } from "../workflow.ts";
import { listIds, type NamedNode, type Outline } from "./outline.ts";

/** Checks that every value of a decision, and every answer of an approval, has exactly one edge. */
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
    else if (open.length === 0 && !isChosenByModel(node)) yield* checkGap(node, edges);
  }
}

/** True for text nodes: their model can only answer with one of the edges. */
function isChosenByModel({ node }: NamedNode): boolean {
  return node?.type === "decision" && node.executor.kind === "text";
}

function* checkClashes(edges: readonly ReadEdge[]): Iterable<Finding> {
  const firstOf = new Map<string, ReadEdge>();
  for (const edge of edges) {
    if (edge.condition === undefined) continue;
    const label = conditionLabel(edge.condition);
    const first = firstOf.get(label);
    if (first === undefined) firstOf.set(label, edge);
    else if (first.to === edge.to) {
      const message = `${edgeName(edge)} is written twice for ${formatValue(edge.condition)} - remove one of the two`;
      yield finding("NOVA207", edge.path, message);
    } else {
      const message = `"${edge.from}" leads for ${formatValue(edge.condition)} both to "${first.to}" and to "${edge.to}" - keep one, or change a condition`;
      yield finding("NOVA304", at(edge.path, "condition"), message);
    }
  }
}

function* checkGap(node: NamedNode, edges: readonly ReadEdge[]): Iterable<Finding> {
  const labelled = edges.filter(({ condition }) => condition !== undefined);
  const labels = new Set(labelled.map(({ condition }) => conditionLabel(condition)));
  const isTruth = labels.has("true") && labels.has("false") && labels.size === 2;
  if (labels.size === 0 || labels.has(defaultLabel) || isTruth) return;
  const only = labels.size === 1 ? [...labels][0] : undefined;
  const missing = only === "true" ? "false" : only === "false" ? "true" : '"default"';
  const message = `the decision "${node.id}" has no edge for other values than ${[...labels].join(", ")}: a run would fail there - add one with "condition": ${missing}`;
  yield finding("NOVA302", node.path, message);
}

/** Checks that every choice of an approval has an edge, and that no edge waits for an unknown choice. */
export function* checkChoices({ id, node, path }: NamedNode, edges: readonly ReadEdge[]): Iterable<Finding> {
  if (node?.type !== "approval") return;
  yield* checkForms(node, path);
  const labelled = edges.filter((edge) => edge.condition !== undefined);
  const labels = new Set(labelled.map(({ condition }) => conditionLabel(condition)));
  for (const edge of labelled) {
    const label = conditionLabel(edge.condition);
    if ([...node.choices, timeoutLabel, defaultLabel].includes(label)) continue;
    const wayOut = didYouMean(label, node.choices) || ` - the choices are ${listIds(node.choices)}`;
    const message = `${edgeName(edge)} waits for "${label}", which is no choice of "${id}"${wayOut}`;
    yield finding("NOVA412", at(edge.path, "condition"), message);
  }
  const missing = node.choices.filter((choice) => !labels.has(choice));
  if (missing.length === 0 || labels.has(defaultLabel)) return;
  const message = `the approval "${id}" has no edge for ${listIds(missing)} - add one for each, or one with "condition": "default"`;
  yield finding("NOVA411", path, message);
}

function* checkForms({ id, form, forms, choices }: ApprovalNode, path: string): Iterable<Finding> {
  const named = Object.keys(forms ?? {});
  for (const choice of named.filter((one) => !choices.includes(one))) {
    const wayOut = didYouMean(choice, choices) || ` - the choices are ${listIds(choices)}`;
    yield finding("NOVA430", at(path, "forms", choice), `"${choice}" has a form and is no choice of "${id}"${wayOut}`);
  }
  if (!form || choices.some((choice) => !named.includes(choice))) return;
  const message = `the form of "${id}" is used by no choice, because each has its own in forms - remove it`;
  yield finding("NOVA430", at(path, "form"), message);
}
