import { elementsOf, type MapNode, secretKeys } from "@nova/workflow";
import { atOnce } from "../../at-once.ts";
import { contextBefore, inputBefore, type Position, storeItems } from "../../chain/position.ts";
import { blobPages, type Context } from "../../context/context.ts";
import {
  asReference,
  findValue,
  keyOfPath,
  type LoadJson,
  loadedText,
  offloadLargeValues,
  savingTo,
} from "../../context/references.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import { answerFor, type MapEvent, maxItems } from "../../protocol/answer.ts";
import { commitFailure, commitOutcome } from "../../protocol/commit.ts";
import {
  defaultNext,
  type HeldNode,
  type KindPorts,
  type NodeDefinition,
  type Reason,
  type SettlingPorts,
} from "../../protocol/definition.ts";
import { buildFailure, buildSuccess, factsWithoutCode, type Outcome } from "../../protocol/outcome.ts";
import { holdTurn, runUntilCommitted } from "../../protocol/turn.ts";
import { redactorAt } from "../../secrets/secret-inputs.ts";

export async function runMap(ports: KindPorts, event: MapEvent, definition: NodeDefinition<MapNode>) {
  const entry = await runUntilCommitted(ports, event, (position) => commitItems(ports, position, definition, event));
  return answerFor(entry, event, ports);
}

/**
 * Writes the entry of the map itself, with its list of items. This function first takes the turn, because a branch that
 * another process closes meanwhile must get no further entry.
 */
async function commitItems(ports: Ports, position: Position, definition: NodeDefinition<MapNode>, event: MapEvent) {
  const { node } = definition;
  if (!(await holdTurn(ports, position, node.id))) return "again";
  const { kept, input } = await inputBefore(ports, position);
  const outcome = await readItems(ports, position, definition, input, maxItems(event));
  return commitOutcome(ports, position, node, outcome, kept);
}

async function readItems(
  ports: Ports,
  { before }: Position,
  definition: NodeDefinition<MapNode>,
  input: Context,
  most: number,
): Promise<Outcome> {
  const { node, version } = definition;
  const pages = blobPages(ports.blobs, before);
  const secret = keyOfPath(secretKeys(version.workflow), node.items);
  const found = await findItems(input, node.items, pages.load);
  const facts = factsWithoutCode(ports, undefined, before);
  const fail = (message: string) => buildFailure(definition, message, facts);
  if (secret !== undefined)
    return fail(`"items" leads into the secret input "${secret}", and items are not secret - map over something else`);
  if ("problem" in found) return fail(found.problem);
  const advice = "split the list, or map over parts of it";
  if (found.length > most) return fail(`${node.items} has ${found.length} items, this map takes ${most} - ${advice}`);
  const texts = await atOnce(found, (text) => offloadLargeValues(text, savingTo(ports, before)));
  const items = await storeItems(texts, pages);
  const more = { count: items.count, contents: { items: JSON.stringify(items) } };
  return buildSuccess(defaultNext(definition), { ...facts, more });
}

/** Fails a map whose list was not read. A map itself runs no code, so this function stops no code. */
export async function settleMap(ports: SettlingPorts, held: HeldNode<MapNode>, reason: Reason): Promise<StoredEntry> {
  const { position, version } = held;
  const kept = await contextBefore(ports, position);
  const redactor = await redactorAt(ports, position.before, version, kept.context);
  return commitFailure(ports, held, { ...reason, message: redactor.mask(reason.message) }, kept);
}

/** Finds the list at a dot path. Returns the JSON texts of its elements, or the reason why there is no list. */
export async function findItems(
  context: Context,
  path: string,
  load: LoadJson,
): Promise<string[] | { problem: string }> {
  const name = `context[${JSON.stringify(path)}]`;
  const found = await findValue(context, path, load);
  if (found === undefined)
    return { problem: `there is no ${name} - "items" takes the path of a list that exists before the map starts` };
  const text = await loadedText(found, load);
  if (text.trimStart().startsWith("[")) return elementsOf(text);
  return { problem: `${name} is ${describeJsonType(text)}, not a list - "items" takes the path of a list` };
}

function describeJsonType(text: string): string {
  const value: unknown = JSON.parse(text);
  if (value === null) return "null";
  if (typeof value !== "object")
    return { string: "a text", number: "a number", boolean: "a boolean" }[typeof value as string] ?? "no value";
  const type = asReference(value)?.type;
  return type === "bytes" ? "bytes" : type === "text" ? "a text" : "an object";
}
