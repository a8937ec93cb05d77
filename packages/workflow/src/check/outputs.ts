import { type Finding, finding } from "../findings/finding.ts";
import { at, didYouMean } from "../findings/text.ts";
import type { InputKey } from "../workflow.ts";
import { type KeyReader, keysOfNode, type NodeCheck } from "./keys-before.ts";
import { executorOf, findingInCode, listIds, type NamedNode } from "./outline.ts";

/** NOVA514: code that asks for all results as one dict although several nodes set one key. */
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

/** Returns the known keys of a node's results. */
function resultKeys(node: NamedNode, reader: KeyReader): Iterable<string> {
  if (isText(node)) return textKeys;
  return keysOfNode(node.node) ?? reader.readCodeKeys(node.python?.code ?? "")?.sets.keys() ?? [];
}

const textKeys = ["output", "generated_text", "content"];

function isText(node: NamedNode): boolean {
  return executorOf(node)?.kind === "text";
}

/** NOVA515: `input_keys` for results that no earlier node sets. */
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
