import { type Finding, finding } from "../findings/finding.ts";
import { pathsIn } from "../template/template.ts";
import type { Workflow } from "../workflow.ts";
import { initialKeys, type KeyReader, KeysBefore, type MissingKey, type NodeCheck } from "./keys-before.ts";
import { checkFlattened, checkInputKeys, checkNamedResults, checkNamedWaits, nameableWaits } from "./named-nodes.ts";
import { checkNodeNames, findingInCode, NodeNames, type Outline } from "./outline.ts";
import { checkDoubleBraces, checkReferences } from "./references.ts";

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
 * Reports names of keys and nodes that nothing defines: NOVA116, NOVA508 to NOVA510, NOVA512 to NOVA516. Only correct
 * if the definition has no errors.
 */
export function* checkKnownKeys(
  outlines: readonly Outline[],
  workflow: Workflow,
  reader: KeyReader,
): Iterable<Finding> {
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
