import { elementsOf, nodeIndex } from "@nova/workflow";
import { atOnce } from "../at-once.ts";
import { blobPages, type Context, linkLabel, type PageStore, type Row } from "../context/context.ts";
import { chainBroken } from "../errors.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { sha256 } from "../sha256.ts";
import { headOf } from "./head.ts";
import { contextAfter, inputAfter, type LoadedContext, type Position } from "./position.ts";
import { branchOf, isItem } from "./scope.ts";

/** Key of an item's number, beside the item itself. */
const indexKey = "index";

/**
 * Loads the context before a link and its stored form. The first node of a map's item also finds the item and its
 * number in it.
 */
export async function contextBefore(ports: Ports, { before, beforeEntry, at }: Position): Promise<LoadedContext> {
  const kept = await contextAfter(beforeEntry, ports.blobs);
  const place = before.seq === 0 ? branchOf(at.scope) : null;
  if (!place || !isItem(place.branch)) return kept;
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
 * Loads the input of a node: `kept` is the context that its entry builds on, `input` also has the failure of the node
 * before, if any.
 */
export async function inputBefore(ports: Ports, position: Position): Promise<{ kept: LoadedContext; input: Context }> {
  const kept = await contextBefore(ports, position);
  return { kept, input: await inputAfter(position.beforeEntry, kept.context, ports.blobs) };
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

/** The stored items of a map. Each page is a blob, so that an item costs one read. */
export interface ItemPages {
  count: number;
  pages: ItemPage[];
}

export interface ItemPage {
  sha256: string;
  bytes: number;
  from: number;
  count: number;
}

/** A page is parsed for each of its items, so pages are small. A smaller limit would make the list of pages long. */
const pageBytes = 32 * 1024;
const pageItems = 256;

/** `texts` is the JSON text of each item. */
export async function storeItems(texts: readonly string[], store: PageStore): Promise<ItemPages> {
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

/** JSON text of one item. */
export async function readItem({ pages }: ItemPages, index: number, store: PageStore): Promise<string> {
  const page = pages.find(({ from, count }) => from <= index && index < from + count);
  if (!page) throw chainBroken(`a map has no item ${index} in its pages`);
  return elementsOf(await store.load(page.sha256))[index - page.from] as string;
}
