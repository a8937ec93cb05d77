import { at, didYouMean, type Finding, finding } from "../findings/finding.ts";
import { linesOf } from "../json/scan.ts";
import { type Reference, referencesIn } from "../references/grammar.ts";
import { mappingKey } from "../references/render.ts";
import type { TextExecutor } from "../workflow.ts";
import type { NodeCheck } from "./keys-before.ts";
import { executorOf, listIds, type NamedNode } from "./outline.ts";

/**
 * NOVA512 and NOVA513: references in the prompts of a text node that name no earlier node and no key of the context.
 */
export function* checkReferences({ node, before, outline: { homeOf }, names }: NodeCheck): Iterable<Finding> {
  const executor = executorOf(node);
  // If the context has `__node_mapping`, the starter of the run defines the names, so they cannot be checked.
  if (executor?.kind !== "text" || before.has(mappingKey, node.id)) return;
  const keys = new Set(before.at(node.id));
  const isName = (name: string) => names.idsOf(name).size > 0 || keys.has(name);
  for (const field of ["prompt", "system"] as const) {
    const text = executor[field] ?? "";
    for (const reference of referencesIn(text, isName)) {
      const problem = keys.has(reference.name) ? undefined : problemOf(reference);
      if (problem === undefined) continue;
      const { path, place } = placeOf(node, executor, { field, text, offset: reference.offset });
      const code = executor.onMissing === "mark" ? "NOVA513" : "NOVA512";
      yield finding(code, path, `node "${node.id}": ${problem}`, place);
    }
  }

  function problemOf({ name, written }: Reference): string | undefined {
    const ids = [...names.idsOf(name)];
    const reachable = ids.filter((id) => before.mayRunBefore(id, node.id));
    if (reachable.length === 1) return undefined;
    if (reachable.length > 1)
      return `${written} may mean ${listIds(reachable)} - give each its own name, or write the id of one`;
    const [other] = ids;
    const others = new Set([...homeOf.keys()].filter((id) => before.mayRunBefore(id, node.id)));
    const known = [...names.of(others), ...keys];
    if (other !== undefined)
      return `${written} names "${other}" (in ${homeOf.get(other)}), which does not run before it - name one of ${listIds([...others])}`;
    const wayOut = didYouMean(name, known) || ` - name one of ${listIds([...others])}`;
    return `${written} names no node that runs before it${wayOut}; write \\{ where the brace is text`;
  }
}

/**
 * Matches `{{mail}}` and `{{ email.subject }}`, but not JSON in double braces, which has quotes, and not `\\{{`, which
 * is text.
 */
const doubleBraces = /(?<!\\)\{\{[ \t]*([\p{L}_][\p{L}\p{M}\p{N}_ .:()[\]-]{0,200})\}\}/gu;

/** NOVA516: double braces in a prompt. Other template languages replace them, but NOVA leaves them as text. */
export function* checkDoubleBraces({ node, before, outline: { nodes }, names }: NodeCheck): Iterable<Finding> {
  const executor = executorOf(node);
  if (executor === undefined || executor.kind === "code") return;
  const keys = new Set(before.at(node.id));
  const start = nodes.find(({ kind }) => kind?.type === "start")?.id;
  const fields = executor.kind === "text" ? (["prompt", "system"] as const) : (["prompt"] as const);
  for (const field of fields) {
    const text = (field === "system" && executor.kind === "text" ? executor.system : executor.prompt) ?? "";
    for (const { 0: written, 1: inside = "", index: offset } of text.matchAll(doubleBraces)) {
      const { path, place } = placeOf(node, executor, { field, text, offset });
      const message = `node "${node.id}": the model reads ${written} as it is written - ${cureOf(inside.trim())}`;
      yield finding("NOVA516", path, message, place);
    }
  }

  function cureOf(name: string): string {
    const [first = ""] = name.split(/[.[:]/);
    if (executor?.kind === "prompt")
      return `name the key of the context, \`${first.trim()}\`, and the code that the model writes reads its value`;
    const isKnown = keys.has(first) || names.idsOf(first).size > 0;
    const reference = isKnown || start === undefined ? name : `${start}.${name}`;
    return `write {${reference}} for a value, or \\{{ where the braces are text`;
  }
}

function placeOf(
  { path }: NamedNode,
  { file }: Pick<TextExecutor, "file">,
  { field, text, offset }: { field: "prompt" | "system"; text: string; offset: number },
) {
  if (field === "system" || file === undefined) return { path: at(path, field), place: {} };
  return { path: at(path, "promptFile"), place: { file, ...linesOf(text)(offset) } };
}
