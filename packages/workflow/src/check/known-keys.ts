import { at, didYouMean, type Finding, finding } from "../findings/finding.ts";
import { linesOf } from "../json/scan.ts";
import { type Reference, referencesIn } from "../references/grammar.ts";
import { mappingKey } from "../references/render.ts";
import { pathsIn } from "../template/template.ts";
import type { TextExecutor, Workflow } from "../workflow.ts";
import { initialKeys, type KeyReader, KeysBefore, type MissingKey, type NodeCheck } from "./keys-before.ts";
import { checkFlattened, checkInputKeys, checkNamedResults, checkNamedWaits, nameableWaits } from "./named-nodes.ts";
import type { NamedNode, Outline } from "./outline.ts";
import { checkNodeNames, executorOf, findingInCode, listIds, NodeNames } from "./outline.ts";

const checks = [
  inFields,
  inCode,
  checkNamedWaits,
  checkNamedResults,
  checkReferences,
  checkDoubleBraces,
  checkFlattened,
  checkInputKeys,
] satisfies ((asked: NodeCheck) => Iterable<Finding>)[];

/**
 * Reports names of keys and nodes that nothing defines: NOVA116, NOVA508 to NOVA510, NOVA512 to NOVA516. The findings
 * are only correct if the definition has no errors.
 */
export function* checkKnownKeys(outlines: readonly Outline[], workflow: Workflow, reader: KeyReader) {
  const bodies = new Map<string, KeysBefore>();
  const waits = nameableWaits(outlines);
  const names = new NodeNames(outlines);
  yield* checkNodeNames(outlines);
  for (const outline of outlines) {
    const around = bodies.get(outline.map?.id ?? "");
    const before = new KeysBefore(outline, reader, givenTo(outline), around);
    for (const { id, node } of outline.nodes) if (node?.type === "map") bodies.set(id, before);
    for (const node of outline.nodes) {
      for (const check of checks) yield* check({ node, outline, workflow, before, waits, names, reader });
    }
  }

  function givenTo({ map }: Outline) {
    const around = bodies.get(map?.id ?? "");
    if (around === undefined || map?.node?.type !== "map") return initialKeys(workflow);
    const { as, id } = map.node;
    return { keys: new Set([...around.at(id), as, "index"]), isOpen: around.isOpenAt(id) };
  }
}

function* inFields({ node: { id, node, path }, before, reader }: NodeCheck): Iterable<Finding> {
  if (!node) return;
  for (const { place, shown, path: named } of pathsIn(node, path)) {
    const steps = named.split(".");
    // A key of the context may itself contain dots, so a known key that equals the start of the path is enough.
    if (steps.some((_, index) => before.has(steps.slice(0, index + 1).join("."), id))) continue;
    const [key = ""] = steps;
    const near = reader.findNearKey(key, before.at(id));
    if (before.isOpenAt(id) && !near.isSlip) continue;
    const message = `node "${id}" names ${shown}, but ${nothingSets({ key, ...near }, id, before)}`;
    yield finding("NOVA508", place, message);
  }
}

function* inCode({ node: named, before, workflow, reader }: NodeCheck): Iterable<Finding> {
  const { id, node, python } = named;
  const code = python && reader.readCodeKeys(python.code);
  if (!code || Array.from(code.reads).every((key) => before.has(key, id))) return;
  const own = node && "credentials" in node ? node.credentials : undefined;
  const isCredential = credentialKeys(own ?? workflow.credentials);
  for (const { isSlip, line, column, ...missing } of code.missing(before.at(id))) {
    if (!isSlip && (before.isOpenAt(id) || isCredential.test(missing.key))) continue;
    yield findingInCode("NOVA508", named, { line, column }, nothingSets(missing, id, before));
  }
}

function nothingSets({ key, near }: Pick<MissingKey, "key" | "near">, id: string, before: KeysBefore): string {
  const later = before.settersOf(key).filter((other) => other !== id);
  const other = later.length === 0 ? "" : `, only "${later[0]}", which does not run before`;
  const wayOut = near === undefined ? "declare it in inputs, or set it in a node before" : `did you mean "${near}"?`;
  return `nothing before sets "${key}"${other} - ${wayOut}`;
}

/** Matches the keys that credentials set in the context: `<name>_<field>`, such as `email_user`. */
function credentialKeys(names: readonly string[] | undefined): RegExp {
  if (names === undefined) return /_/;
  const own = names.map((name) => `${name.replaceAll(/[^\w]/g, ".")}_`);
  return names.length === 0 ? /(?!)/ : new RegExp(`^(${[...own, "email_|smtp_|imap_|db_|http_|oauth2_"].join("|")})`);
}

/**
 * Reports NOVA512 and NOVA513: references in the prompts of a text node that name no earlier node and no key of the
 * context.
 */
function* checkReferences({ node, before, outline: { homeOf }, names }: NodeCheck): Iterable<Finding> {
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

/** Reports NOVA516: double braces in a prompt. Other template languages replace them, but NOVA leaves them as text. */
function* checkDoubleBraces({ node, before, outline: { nodes }, names }: NodeCheck): Iterable<Finding> {
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
