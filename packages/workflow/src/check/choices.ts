import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import { didYouMean } from "../findings/suggest.ts";
import { conditionLabel, defaultLabel, timeoutLabel } from "../graph/condition.ts";
import { edgeName } from "../parse/edges.ts";
import type { ReadEdge } from "../parse/read.ts";
import type { ApprovalNode } from "../workflow.ts";
import { list, type NamedNode } from "./outline.ts";

/** Every choice of an approval has an edge, and no edge waits for what nobody can choose. */
export function* checkChoices({ id, node, path }: NamedNode, edges: readonly ReadEdge[]): Iterable<Finding> {
  if (node?.type !== "approval") return;
  yield* checkForms(node, path);
  const labelled = edges.filter((edge) => edge.condition !== undefined);
  const labels = new Set(labelled.map(({ condition }) => conditionLabel(condition)));
  for (const edge of labelled) {
    const label = conditionLabel(edge.condition);
    if ([...node.choices, timeoutLabel, defaultLabel].includes(label)) continue;
    const wayOut = didYouMean(label, node.choices) || ` - the choices are ${list(node.choices)}`;
    const message = `${edgeName(edge)} waits for "${label}", which is no choice of "${id}"${wayOut}`;
    yield finding("NOVA412", at(edge.path, "condition"), message);
  }
  const missing = node.choices.filter((choice) => !labels.has(choice));
  if (missing.length === 0 || labels.has(defaultLabel)) return;
  const message = `the approval "${id}" has no edge for ${list(missing)} - add one for each, or one with "condition": "default"`;
  yield finding("NOVA411", path, message);
}

function* checkForms({ id, form, forms, choices }: ApprovalNode, path: string): Iterable<Finding> {
  const named = Object.keys(forms ?? {});
  for (const choice of named.filter((one) => !choices.includes(one))) {
    const wayOut = didYouMean(choice, choices) || ` - the choices are ${list(choices)}`;
    yield finding("NOVA430", at(path, "forms", choice), `"${choice}" has a form and is no choice of "${id}"${wayOut}`);
  }
  if (!form || choices.some((choice) => !named.includes(choice))) return;
  const message = `the form of "${id}" is for no choice, since each has one of its own in forms - remove it`;
  yield finding("NOVA430", at(path, "form"), message);
}
