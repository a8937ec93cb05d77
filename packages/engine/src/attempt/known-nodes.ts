import {
  isRawNumber,
  type Member,
  type Node,
  nodeIndex,
  normalName,
  objectText,
  parseExact,
  type Workflow,
} from "@nova/workflow";
import { type BranchTip, contentText, type Head, headOf } from "../chain/entry.ts";
import { branchOf } from "../chain/ids.ts";
import { contextAfter, type Position } from "../chain/position.ts";
import { type Context, linkLabel } from "../context/context.ts";
import { asReference, referenceKey, referencesIn, referenceText, wholeJson } from "../context/references.ts";
import type { BlobRef } from "../ports/blobs.ts";
import type { EntryId, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { readDraftPrefix } from "../protocol/recorded.ts";

/** The size of the largest value, with the contents of its blobs, that NOVA reads for a reference in a prompt. */
export const maxValueBytes = 10_000_000;

export class ValueTooLarge extends Error {
  override name = "ValueTooLarge";
}

/** The nodes that a text node may name, each with its last result. */
export type KnownNodes = Awaited<ReturnType<typeof findKnownNodes>>;

/**
 * Finds the nodes that have results at a position. With `withMaps`, also finds the maps around this position, which
 * have no result yet.
 */
export async function findKnownNodes(ports: Ports, position: Position, workflow: Workflow, withMaps = false) {
  const { at, before: home } = position;
  const entries = new Map<string, StoredEntry>();
  for await (const { node, entry } of entriesBefore(ports, at)) {
    if (node !== null && (withMaps || headOf(entry).node_type !== "map")) entries.set(node, entry);
  }
  /** The values that nodes of a draft set before the part of the draft that runs now. */
  const draft = await readDraftPrefix(ports, position, workflow);
  const ids = [...new Set([...draft.keys(), ...entries.keys()])];
  const nodeOf = (id: string) =>
    workflow.draftPrefix?.nodes.find((node) => node.id === id) ?? nodeIndex(workflow).get(id)?.node;
  const nameOf = (id: string) => nodeOf(id)?.name ?? id;

  /** Returns the results of a node in their stored form; null if the node has none. */
  const findResults = async (id: string): Promise<Member[] | null> => {
    const entry = entries.get(id);
    const set = draft.get(id) ?? (entry && (await readWritten(ports, entry)));
    return set ? resultsOf(nodeOf(id), set) : null;
  };

  /** Parses the JSON text of a value with the contents of its blobs. Throws `ValueTooLarge` above `maxValueBytes`. */
  const parseValue = async (json: string, name: string): Promise<unknown> => {
    const whole = await wholeJson(json, maxValueBytes, { home, blobs: ports.blobs });
    if (whole === null) throw new ValueTooLarge(`${name} has more than ${maxValueBytes / 1_000_000} MB`);
    return parseExact(whole);
  };

  return {
    ids,
    findResults,
    parseValue,
    /** Maps the name of every node that has results to its id. A node without a name is listed by its id. */
    mapping: () => Object.fromEntries(ids.map((id) => [nameOf(id), id])),
    /** Lists the keys that a node has set and whose values have not changed in the context since then. */
    keysOf(id: string, context: Context): string[] {
      const entry = entries.get(id);
      const isStill = ({ key, json }: Member) => context.slot(key)?.json === json;
      const set = draft.get(id)?.filter(isStill) ?? (entry ? context.writtenBy(linkLabel(headOf(entry))) : []);
      return resultsOf(nodeOf(id), set).map(({ key }) => key);
    },
    idOf(name: string): string | undefined {
      if (ids.includes(name)) return name;
      const wanted = normalName(name);
      const similar = () => ids.find((id) => [id, nameOf(id)].some((one) => normalName(one) === wanted));
      return ids.find((id) => nodeOf(id)?.name === name) ?? similar();
    },
    /**
     * Reads the results of a node, with the contents of blobs and with all digits of numbers; undefined if the node has
     * no results. Throws `ValueTooLarge` if the results exceed `maxValueBytes`.
     */
    async outputOf(id: string): Promise<unknown> {
      const results = await findResults(id);
      if (!results || results.length === 0) return undefined;
      const value = await parseValue(objectText(results), `"${id}"`);
      const into = mainKeyOf(nodeOf(id));
      const isObject = value !== null && typeof value === "object" && !isRawNumber(value);
      return isObject && into !== undefined && Object.hasOwn(value, into)
        ? { output: (value as Record<string, unknown>)[into], ...value }
        : value;
    },
  };
}

async function readWritten({ blobs }: Ports, entry: StoredEntry): Promise<Member[]> {
  return (await contextAfter(entry, blobs)).context.writtenBy(linkLabel(headOf(entry)));
}

function mainKeyOf(node: Node | undefined): string | undefined {
  if (node?.type === "map" || node?.type === "approval") return node.into;
  return node?.type === "wait" && node.for.kind === "event" ? node.for.into : undefined;
}

/**
 * Selects the results that other nodes find under the name of a node. For a text node, these are three keys that all
 * hold the answer.
 */
function resultsOf(node: Node | undefined, set: readonly Member[]): Member[] {
  if (!node || !("executor" in node) || node.executor.kind !== "text") return [...set];
  const { into } = node.executor;
  const output = set.find(({ key }) => key === into)?.json;
  if (output === undefined) return [...set];
  const text = textOfAnswer(output);
  return [
    { key: "output", json: output },
    { key: "generated_text", json: text },
    { key: "content", json: text },
  ];
}

/** Converts an answer to a JSON string: an object becomes its JSON text, and a blob is read as text. */
function textOfAnswer(json: string): string {
  const value: unknown = JSON.parse(json);
  if (typeof value === "string") return json;
  const ref = value !== null && typeof value === "object" ? asReference(value) : undefined;
  return ref ? referenceText({ ...ref, type: "text" }) : JSON.stringify(json);
}

/**
 * A successful entry, and the node under whose name other nodes find the results. Null for a join of branches, which
 * has no name.
 */
export interface NamedEntry {
  node: string | null;
  entry: StoredEntry;
}

/**
 * Reads the successful entries that a node may see: first the entries of the scopes around the node, outermost first,
 * then those of its own scope.
 */
export async function* entriesBefore(ports: Ports, { execution, scope, seq }: EntryId): AsyncIterable<NamedEntry> {
  const place = branchOf(scope);
  if (place) yield* entriesBefore(ports, { execution, scope: place.parent, seq: place.seq + 1 });
  yield* entriesOf(ports, execution, scope, seq);
}

async function* entriesOf(ports: Ports, execution: string, scope: string, end: number): AsyncIterable<NamedEntry> {
  let before: Head | undefined;
  for await (const { seq, entry } of ports.chain.links(execution, scope)) {
    if (seq >= end) return;
    if (!entry) continue;
    const head = headOf(entry);
    const fork = head.node_type === "join" ? before : undefined;
    before = head;
    if (head.status !== "success") continue;
    // Every item has results under the same node names. So this function leaves out the items, and yields the map
    // itself with its list of results. The results of calls are only for the model of the agent.
    if (fork?.node_type === "agent") continue;
    if (fork?.node_type === "map") yield { node: fork.node_id, entry };
    else if (fork) yield* joinedEntries(ports, entry, head);
    else yield { node: head.node_id, entry };
  }
}

async function* joinedEntries(ports: Ports, join: StoredEntry, head: Head): AsyncIterable<NamedEntry> {
  const { branches } = join.contents;
  const tips = branches ? (JSON.parse(await contentText(branches, head, ports.blobs)) as BranchTip[]) : [];
  for (const { scope, seq } of tips) yield* entriesOf(ports, head.execution_id, scope, seq + 1);
  yield { node: null, entry: join };
}

/** Whether an earlier node wrote a value with this blob. Reads the whole chain, so callers try faster checks first. */
export async function wasWrittenBefore(ports: Ports, { before, at }: Position, wanted: BlobRef): Promise<boolean> {
  const seen = new Set<string>();
  for await (const { entry } of entriesBefore(ports, at)) {
    const { context } = await contextAfter(entry, ports.blobs);
    const waiting: BlobRef[] = context.writtenBy(linkLabel(headOf(entry))).flatMap(({ json }) => referencesIn(json));
    for (const ref of waiting) {
      if (referenceKey(ref) === referenceKey(wanted)) return true;
      if (ref.type !== "json" || seen.has(ref.sha256)) continue;
      seen.add(ref.sha256);
      const text = Buffer.from(await ports.blobs.get(before, ref.sha256)).toString();
      waiting.push(...referencesIn(text));
    }
  }
  return false;
}
