import { type Finding, finding } from "../findings/finding.ts";
import { pathsIn } from "../template/template.ts";
import type { Workflow } from "../workflow.ts";
import type { KeyReader, MissingKey } from "./keys-before.ts";
import { givenKeys, KeysBefore } from "./keys-before.ts";
import { checkNamedResults, checkNamedWaits, nameableWaits } from "./named-nodes.ts";
import { checkNodeNames, NodeNames } from "./node-names.ts";
import type { NamedNode, Outline } from "./outline.ts";
import { checkFlattened, checkInputKeys } from "./outputs.ts";
import { checkReferences } from "./references.ts";

/**
 * NOVA508: keys that a node names and nothing before it sets. NOVA509 and NOVA510: waits and results that it cannot
 * name. NOVA116 and NOVA512 to NOVA515: names of nodes, and what is taken of their results. For definitions without errors: in others it would guess.
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
    const keys = new KeysBefore(outline, reader, givenTo(outline), around);
    for (const { id, node } of outline.nodes) if (node?.type === "map") bodies.set(id, keys);
    for (const node of outline.nodes) {
      yield* inFields(node, keys, reader);
      yield* inCode(node, keys, workflow, reader);
      yield* checkNamedWaits(node, waits, reader);
      yield* checkNamedResults(node, keys, outline, reader);
      yield* checkReferences(node, keys, outline, names);
      yield* checkFlattened(node, keys, outline, reader);
      yield* checkInputKeys(node, keys, outline, reader);
    }
  }

  function givenTo({ map }: Outline) {
    const around = bodies.get(map?.id ?? "");
    if (around === undefined || map?.node?.type !== "map") return givenKeys(workflow);
    const { as, id } = map.node;
    return { keys: new Set([...around.at(id), as, "index"]), isOpen: around.isOpenAt(id) };
  }
}

function* inFields({ id, node, path }: NamedNode, before: KeysBefore, reader: KeyReader): Iterable<Finding> {
  if (!node) return;
  for (const { place, shown, path: named } of pathsIn(node, path)) {
    const steps = named.split(".");
    // A key that contains dots itself wins over the path through it.
    if (steps.some((_, index) => before.has(steps.slice(0, index + 1).join("."), id))) continue;
    const [key = ""] = steps;
    const near = reader.nearKey(key, before.at(id));
    if (before.isOpenAt(id) && !near.isSlip) continue;
    const message = `node "${id}" names ${shown}, but ${nothingSets({ key, ...near }, id, before)}`;
    yield finding("NOVA508", place, message);
  }
}

function* inCode(
  { id, node, python }: NamedNode,
  before: KeysBefore,
  workflow: Workflow,
  reader: KeyReader,
): Iterable<Finding> {
  const code = python && reader.codeKeys(python.code);
  if (!code || !python || Array.from(code.reads).every((key) => before.has(key, id))) return;
  const named = node && "credentials" in node ? node.credentials : undefined;
  const isCredential = credentialKeys(named ?? workflow.credentials);
  for (const { isSlip, line, column, ...missing } of code.missing(before.at(id))) {
    if (!isSlip && (before.isOpenAt(id) || isCredential.test(missing.key))) continue;
    const message = `node "${id}": line ${line}: ${nothingSets(missing, id, before)}`;
    const place = { line, column, ...(python.file !== undefined && { file: python.file }) };
    yield finding("NOVA508", python.path, message, place);
  }
}

function nothingSets({ key, near }: Pick<MissingKey, "key" | "near">, id: string, before: KeysBefore): string {
  const later = before.settersOf(key).filter((other) => other !== id);
  const other = later.length === 0 ? "" : `, only "${later[0]}", which does not run before`;
  const wayOut = near === undefined ? "declare it in inputs, or set it in a node before" : `did you mean "${near}"?`;
  return `nothing before sets "${key}"${other} - ${wayOut}`;
}

/** What a credential may bring: `<name>_<field>`, `email_user`. */
function credentialKeys(names: readonly string[] | undefined): RegExp {
  if (names === undefined) return /_/;
  const own = names.map((name) => `${name.replaceAll(/[^\w]/g, ".")}_`);
  return names.length === 0 ? /(?!)/ : new RegExp(`^(${[...own, "email_|smtp_|imap_|db_|http_|oauth2_"].join("|")})`);
}
