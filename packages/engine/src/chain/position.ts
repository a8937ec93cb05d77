import { elementsOf, forksOf, membersOf, nodeIndex, secretKeys } from "@nova/workflow";
import { LRUCache } from "lru-cache";
import { atOnce } from "../at-once.ts";
import {
  blobPages,
  type Changes,
  Context,
  emptyStored,
  linkLabel,
  loadContext,
  type PageStore,
  type Row,
} from "../context/context.ts";
import { leafLimitBytes } from "../context/references.ts";
import { chainBroken } from "../errors.ts";
import type { BlobStore } from "../ports/blobs.ts";
import type { ChainStore, EntryId, Link, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { sha256 } from "../sha256.ts";
import { contentText, type FailureRecord, type Head, headOf } from "./entry.ts";
import { type BranchPlace, branchOf, isItem } from "./ids.ts";

/**
 * The result of one consistent read for a node: the entry before it (`before`), and the turn and entry of the node
 * itself (`next`), if they exist.
 */
export interface Position {
  /**
   * The head (the hashed fields) of the entry before, whose output is the input of this node. A branch has no entry 0;
   * for its first node, this is the head that an entry 0 would have.
   */
  before: Head;
  /** The stored entry of `before`; for the first entry of a branch it is the entry of the fork. */
  beforeEntry: StoredEntry;
  at: EntryId;
  next: Link;
}

/**
 * Returns the position of a node. If this process has just written the entry before, that entry comes from memory and
 * may be out of date. Then the caller's next write to the chain fails if another process has written further entries.
 */
export async function latestPosition(ports: Ports, at: EntryId): Promise<Position> {
  const written = ports.tailCache.take({ ...at, seq: at.seq - 1 }, ports.clock.now());
  if (!written) return readPosition(ports, at);
  return { before: headOf(written), beforeEntry: written, at, next: { seq: at.seq } };
}

/**
 * Reads the position of a node. A branch has no entry 0, so for its first node this function reads the entry of the
 * fork.
 */
export async function readPosition(ports: Ports, at: EntryId): Promise<Position> {
  const place = at.seq === 1 ? branchOf(at.scope) : null;
  if (place) {
    const [start, next] = await Promise.all([readFork(ports, at, place), ports.chain.read(at)]);
    return { ...start, at, next };
  }
  const { here, next } = await ports.chain.readTail({ ...at, seq: at.seq - 1 });
  if (!here) throw chainBroken(`execution ${at.execution} has no link ${at.seq - 1} in its chain`);
  return { before: headOf(here), beforeEntry: here, at, next };
}

/**
 * Returns the start of a branch: the entry of the fork, and the head (the hashed fields) that an entry 0 of the branch
 * would have.
 */
export async function branchStart(ports: Ports, fork: StoredEntry, scope: string) {
  return (await branchStarts(ports, fork))(scope);
}

/** Returns a function with the result of `branchStart` for each branch of a fork. */
export async function branchStarts(ports: Ports, fork: StoredEntry) {
  const { inner: _, count, calls, loops: _loops, continuation: _further, ...whole } = headOf(fork);
  const { reused_from: _reused, edited: _edited, plan: _plan, spare = [], ...head } = whole;
  const version = await ports.workflows.get(head.workflow_id, head.workflow_version);
  const branches = version && forksOf(version.workflow).get(head.node_id)?.branches;
  return (scope: string) => {
    const branch = branchOf(scope)?.branch ?? "";
    const entry = isItem(branch) ? (calls ? calls[Number(branch)] : branches?.[0]?.entry) : branch;
    const [ways, place] = isItem(branch)
      ? [count ?? 1, Number(branch)]
      : [branches?.length ?? 1, branches?.findIndex((one) => one.entry === branch)];
    const visits = whole.visits && isItem(branch) ? { visits: {} } : {};
    const share = spare.filter((_, index) => index % ways === place);
    const own = { scope, seq: 0, warm: null, spare: share, nodes: 0, path_taken: entry ?? null };
    const before: Head = { ...head, ...visits, ...own };
    return { before: head.events === undefined ? before : { ...before, events: 0 }, beforeEntry: fork };
  };
}

/**
 * Returns the head (the hashed fields) that an entry 0 of an inner scope would have. `before` is the head of the entry
 * before the node's own entry.
 */
export function innerStart({ inner: _, ...before }: Head, scope: string): Head {
  return { ...before, scope, seq: 0, nodes: 0 };
}

async function readFork(ports: Ports, at: EntryId, { parent, fork, seq }: BranchPlace) {
  const entry = await readKept(ports.chain, { execution: at.execution, scope: parent, seq });
  if (!entry || headOf(entry).node_id !== fork) {
    throw chainBroken(`execution ${at.execution} has no fork "${fork}" at link ${seq}${parent}`);
  }
  return branchStart(ports, entry, at.scope);
}

/** Caches entries that many nodes read, such as forks. Entries never change. */
const maxKept = 50;
const kept = new WeakMap<ChainStore, LRUCache<string, StoredEntry>>();

export async function readKept(chain: ChainStore, at: EntryId): Promise<StoredEntry | undefined> {
  const known = kept.get(chain) ?? new LRUCache<string, StoredEntry>({ max: maxKept });
  kept.set(chain, known);
  const name = `${at.execution}${at.scope}#${at.seq}`;
  const entry = known.get(name) ?? (await chain.read(at)).entry;
  if (entry) known.set(name, entry);
  return entry;
}

/**
 * A context in two forms: nodes read `context`, and the chain stores `stored`. The next entry is built from `stored`.
 */
export type LoadedContext = Awaited<ReturnType<typeof loadContext>>;

export async function contextAfter(entry: StoredEntry, blobs: BlobStore): Promise<LoadedContext> {
  const head = headOf(entry);
  const { context } = entry.contents;
  if (!context) throw chainBroken(`link ${head.seq} of execution ${head.execution_id} has no context: it was erased`);
  return loadContext(await contentText(context, head, blobs), blobPages(blobs, head));
}

export async function readChanges(entry: StoredEntry, blobs: BlobStore): Promise<Changes> {
  const { context, stored } = await contextAfter(entry, blobs);
  const set = context.writtenBy(linkLabel(headOf(entry))).map(({ key, json }) => ({ key, json }));
  return { set, delete: stored.deleted };
}

/**
 * Reads the failure of a failed entry. The node to which `onError` leads finds this failure in its context, under
 * `error`.
 */
export async function failureOf(entry: StoredEntry, blobs: BlobStore): Promise<FailureRecord> {
  const content = entry.contents.error;
  return content
    ? (JSON.parse(await contentText(content, headOf(entry), blobs)) as FailureRecord)
    : { message: "erased" };
}

/** The context that the node after `entry` sees: `kept`, and, if `entry` failed, also the failure under `error`. */
export async function inputAfter(entry: StoredEntry, kept: Context, blobs: BlobStore): Promise<Context> {
  const head = headOf(entry);
  if (head.status === "success") return kept;
  const { message, traceback, node = head.node_id } = await failureOf(entry, blobs);
  const error = { node, class: head.error_class, message, ...(traceback !== undefined && { traceback }) };
  return kept.apply({ set: [{ key: "error", json: JSON.stringify(error) }], delete: [] }, linkLabel(head));
}

/** The key under which the nodes of an item find the number of the item. */
const indexKey = "index";

/** Loads the context before an entry. For the first node of an item, this context also has the item and its number. */
export async function contextBefore(ports: Ports, { before, beforeEntry, at }: Position): Promise<LoadedContext> {
  const kept = await contextAfter(beforeEntry, ports.blobs);
  const place = before.seq === 0 ? branchOf(at.scope) : null;
  if (!place || !isItem(place.branch)) return kept;
  if (headOf(beforeEntry).calls) return contextOfCall(ports, kept, beforeEntry, at);
  const index = Number(place.branch);
  const by = linkLabel({ scope: at.scope, seq: 0 });
  const rows: Row[] = [
    [await itemKey(ports, beforeEntry), by, await itemText(ports, beforeEntry, index)],
    [indexKey, by, String(index)],
  ];
  const keys = new Set(rows.map(([key]) => key));
  const changes = { set: rows.map(([key, , json]) => ({ key, json })), delete: [] };
  const inline = [...kept.stored.inline.filter(([key]) => !keys.has(key)), ...rows];
  return { context: kept.context.apply(changes, by), stored: { ...kept.stored, inline } };
}

/**
 * Builds the context of a call: its arguments, and the secret inputs of the workflow. With these inputs, NOVA finds the
 * secrets in the values that the tool sets.
 */
async function contextOfCall(ports: Ports, kept: LoadedContext, agent: StoredEntry, { scope }: EntryId) {
  const by = linkLabel({ scope, seq: 0 });
  const { workflow_id, workflow_version } = headOf(agent);
  const version = await ports.workflows.get(workflow_id, workflow_version);
  const secrets = version ? secretKeys(version.workflow) : new Set<string>();
  const secret = kept.context.slots().filter(({ key }) => secrets.has(key));
  const index = Number(branchOf(scope)?.branch);
  const given = membersOf(await itemText(ports, agent, index)).filter(({ key }) => !secrets.has(key));
  const rows: Row[] = [
    ...secret.map((slot): Row => [slot.key, slot.by, slot.json]),
    ...given.map(({ key, json }): Row => [key, by, json]),
  ];
  const context = new Context(rows.map(([key, by, json]) => ({ key, by, json })));
  return { context, stored: { ...emptyStored, inline: rows } };
}

/**
 * Loads the input of a node. If the node before failed, `input` also has its failure. The entry of the node is built on
 * `kept`, without that failure.
 */
export async function inputBefore(ports: Ports, position: Position): Promise<{ kept: LoadedContext; input: Context }> {
  const kept = await contextBefore(ports, position);
  return { kept, input: await inputAfter(position.beforeEntry, kept.context, ports.blobs) };
}

/** Loads the input of the node that wrote, or will write, the entry with this id. */
export async function readInput(ports: Ports, at: EntryId): Promise<Context> {
  return (await inputBefore(ports, await readPosition(ports, at))).input;
}

async function itemKey(ports: Ports, fork: StoredEntry): Promise<string> {
  const { workflow_id, workflow_version, node_id } = headOf(fork);
  const version = await ports.workflows.get(workflow_id, workflow_version);
  const node = version && nodeIndex(version.workflow).get(node_id)?.node;
  if (!node || !("as" in node)) throw chainBroken(`node "${node_id}" has items and is no map`);
  return node.as;
}

async function itemText(ports: Ports, fork: StoredEntry, index: number): Promise<string> {
  const head = headOf(fork);
  const { items } = fork.contents;
  if (!items) throw chainBroken(`link ${head.seq} of ${head.execution_id} has no items: they were erased`);
  const pages = blobPages(ports.blobs, head);
  const text = "text" in items ? items.text : await pages.load(items.blob.sha256);
  return readItem(JSON.parse(text) as ItemPages, index, pages);
}

/** The stored items of a map. Each page is a blob, so that an item costs one read. A short list has no pages. */
export interface ItemPages {
  count: number;
  pages: ItemPage[];
  /** All items as JSON texts, if they are short. */
  inline?: readonly string[];
}

export interface ItemPage {
  sha256: string;
  bytes: number;
  from: number;
  count: number;
}

/**
 * The size of a page of items. A page is parsed for each of its items, so a page should be small. But smaller pages
 * would make the list of pages long.
 */
const pageBytes = 32 * 1024;
const pageItems = 256;

export async function storeItems(texts: readonly string[], store: PageStore): Promise<ItemPages> {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes <= leafLimitBytes && texts.length <= pageItems) return { count: texts.length, pages: [], inline: texts };
  const pages = await atOnce(bordersOf(texts), async ({ from, end }): Promise<ItemPage> => {
    const text = `[${texts.slice(from, end).join(",")}]`;
    const page = { sha256: sha256(text), bytes: Buffer.byteLength(text), from, count: end - from };
    await store.save(page.sha256, text);
    return page;
  });
  return { count: texts.length, pages };
}

function bordersOf(texts: readonly string[]): { from: number; end: number }[] {
  const borders: { from: number; end: number }[] = [];
  for (let from = 0; from < texts.length; ) {
    let end = from;
    let size = 0;
    while (end < texts.length && (end === from || (size < pageBytes && end - from < pageItems))) {
      size += (texts[end++] as string).length;
    }
    borders.push({ from, end });
    from = end;
  }
  return borders;
}

export async function readItem({ pages, inline }: ItemPages, index: number, store: PageStore): Promise<string> {
  const text = inline?.[index];
  if (text !== undefined) return text;
  const page = pages.find(({ from, count }) => from <= index && index < from + count);
  if (!page) throw chainBroken(`a map has no item ${index} in its pages`);
  return elementsOf(await store.load(page.sha256))[index - page.from] as string;
}
