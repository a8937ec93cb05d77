import { at, didYouMean, type Finding, type FindingCode, finding } from "../findings/finding.ts";
import type { InputKey } from "../workflow.ts";
import { branchingOfOutline, homesOf, type Scope } from "./forks.ts";
import { type KeyReader, keysOfNode, type NameableWaits, type NamedId, type NodeCheck } from "./keys-before.ts";
import { executorOf, findingInCode, listIds, type NamedNode, type Outline } from "./outline.ts";

export function nameableWaits(outlines: readonly Outline[]): NameableWaits {
  const around = new Map<string, { scope: Scope; map: string | undefined }>();
  const waits = new Map<Scope, string[]>();
  for (const outline of outlines) {
    const map = outline.map?.id;
    for (const [id, scope] of homesOf(outline, branchingOfOutline(outline)).of) {
      around.set(id, { scope, map });
      if (isEventWait(outline.byId.get(id))) waits.set(scope, [...(waits.get(scope) ?? []), id]);
    }
  }
  return {
    all: [...waits.values()].flat(),
    at(node) {
      const named = new Set<string>();
      for (let place = around.get(node); place; place = around.get(place.map ?? "")) {
        for (let scope: Scope | undefined = place.scope; scope; scope = scope.fork?.scope)
          for (const id of waits.get(scope) ?? []) named.add(id);
      }
      return named;
    },
  };
}

/** Reports NOVA509: resume links that the code of a node reads, but that do not exist for this node. */
export function checkNamedWaits({ node, waits, reader }: NodeCheck): Iterable<Finding> {
  const nameable = waits.at(node.id);
  return checkNamed(node, reader.readCodeKeys(node.python?.code ?? "")?.waits, "NOVA509", (wait) => {
    if (nameable.has(wait)) return undefined;
    if (waits.all.includes(wait))
      return `the wait "${wait}" is in a branch or a map that this node is not in - read its link there`;
    const others = nameable.size === 0 ? "add such a wait" : `name one of ${listIds([...nameable])}`;
    return `no node "${wait}" waits for an event - ${wayOut(wait, nameable, reader, others)}`;
  });
}

/** Reports NOVA510: results that the code of a node reads before any node sets them. */
export function checkNamedResults({ node, before, outline: { homeOf }, reader }: NodeCheck): Iterable<Finding> {
  const { id } = node;
  return checkNamed(node, reader.readCodeKeys(node.python?.code ?? "")?.results, "NOVA510", (named) => {
    if (before.mayRunBefore(named, id)) return undefined;
    const others = [...homeOf.keys()].filter((other) => before.mayRunBefore(other, id));
    if (homeOf.has(named))
      return `"${named}" (in ${homeOf.get(named)}) does not run before "${id}" - name one of ${listIds(others)}`;
    return `there is no node "${named}" - ${wayOut(named, others, reader, `name one of ${listIds(others)}`)}`;
  });
}

function* checkNamed(
  node: NamedNode,
  named: readonly NamedId[] | undefined,
  code: FindingCode,
  problemOf: (id: string) => string | undefined,
): Iterable<Finding> {
  for (const { id, ...place } of named ?? []) {
    const problem = problemOf(id);
    if (problem !== undefined) yield findingInCode(code, node, place, problem);
  }
}

function wayOut(wrong: string, ids: Iterable<string>, reader: KeyReader, otherwise: string): string {
  const longer = [...ids].filter((id) => id.startsWith(wrong));
  const near = longer.length === 1 ? longer[0] : reader.findNearKey(wrong, [...ids]).near;
  return near === undefined ? otherwise : `did you mean "${near}"?`;
}

function isEventWait(node: NamedNode | undefined): boolean {
  return node?.node?.type === "wait" && node.node.for.kind === "event";
}

/** Reports NOVA514: code that asks for all results as one dict although several nodes set one key. */
export function* checkFlattened({ node, before, outline: { nodes }, reader }: NodeCheck): Iterable<Finding> {
  const place = reader.readCodeKeys(node.python?.code ?? "")?.flattens;
  if (!place) return;
  const setters = new Map<string, string[]>();
  for (const other of nodes.filter(({ id }) => before.mayRunBefore(id, node.id))) {
    for (const key of resultKeys(other, reader)) setters.set(key, [...(setters.get(key) ?? []), other.id]);
  }
  const [collision, ...others] = [...setters].filter(([, ids]) => ids.length > 1);
  if (!collision) return;
  const [key, ids] = collision;
  const more = others.length === 0 ? "" : `, and ${others.length} more keys are`;
  const message = `outputs.get_flattened() has one value for each key, and "${key}" is set by ${listIds(ids)}${more} - use outputs.get_all_data(), whose keys are "node:key", or outputs.get(node, key)`;
  yield findingInCode("NOVA514", node, place, message);
}

function resultKeys(node: NamedNode, reader: KeyReader): Iterable<string> {
  if (isText(node)) return textKeys;
  return keysOfNode(node.node) ?? reader.readCodeKeys(node.python?.code ?? "")?.sets.keys() ?? [];
}

const textKeys = ["output", "generated_text", "content"];

function isText(node: NamedNode): boolean {
  return executorOf(node)?.kind === "text";
}

/** Reports NOVA515: `input_keys` that name results that no earlier node sets. */
export function* checkInputKeys({ node, before, outline, reader }: NodeCheck): Iterable<Finding> {
  const { homeOf, graph, byId } = outline;
  const keys = node.node && "inputKeys" in node.node ? (node.node.inputKeys ?? {}) : {};
  for (const [name, source] of Object.entries(keys)) {
    const problem = problemOf(source);
    if (problem !== undefined)
      yield finding("NOVA515", at(node.path, "input_keys"), `node "${node.id}": input_keys: "${name}": ${problem}`);
  }

  function problemOf({ node: id, key }: InputKey): string | undefined {
    const reachable = [...homeOf.keys()].filter((other) => before.mayRunBefore(other, node.id));
    if (id === undefined) {
      const upstream = (graph.predecessors.get(node.id) ?? []).flatMap((other) => byId.get(other) ?? []);
      return upstream.some((other) => mayBring(other, key))
        ? undefined
        : `no node directly before brings "${key}" - name one as { "${key}": "node:${key}" }`;
    }
    if (!reachable.includes(id))
      return `there is no node "${id}" before it${didYouMean(id, reachable) || ` - name one of ${listIds(reachable)}`}`;
    const source = byId.get(id);
    return key === undefined || !source || mayBring(source, key)
      ? undefined
      : `node "${id}" does not bring "${key}" - name one of its keys`;
  }

  function mayBring(other: NamedNode, key: string | undefined): boolean {
    if (key === undefined || other.node?.type === "start") return true;
    if (isText(other)) return textKeys.includes(key);
    const own = keysOfNode(other.node);
    const code = other.python && reader.readCodeKeys(other.python.code);
    return own ? own.includes(key) : !code || code.setsMore || code.sets.has(key);
  }
}
