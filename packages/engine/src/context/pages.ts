import { LRUCache } from "lru-cache";
import type { BlobHome, BlobStore } from "../ports/blobs.ts";
import { sha256 } from "../sha256.ts";
import { type Changes, Context, type LinkLabel, type Slot } from "./context.ts";

/**
 * How a link stores its context in at most a few KB, whatever the context holds: recent keys inline, older ones in
 * pages, which are blobs written once and shared by all later links. When the inline part is full it becomes a page;
 * pages of like size merge, so their number grows with the logarithm of the context and a chain's cost per node stays
 * flat. A key found in several places has its newest value and its oldest place in the order.
 */
export interface StoredContext {
  pages: { sha256: string; bytes: number }[];
  /** Keys of pages that later links deleted. */
  removed: string[];
  inline: Row[];
  /** What this very link deleted. */
  deleted: string[];
}

export type Row = [key: string, by: LinkLabel, json: string];

/** Inline limit in bytes of JSON: leaves room for head, error and logs in the 8 KB of an item. */
const inlineLimitBytes = 4096;
const removedLimitBytes = 1024;

export interface PageStore {
  load(sha256: string): Promise<string>;
  save(sha256: string, text: string): Promise<void>;
}

/** The stored form alone: what is inline, without the pages. */
export function loadStored(text: string): StoredContext {
  return JSON.parse(text) as StoredContext;
}

/** What a page holds, from its text. */
export function rowsIn(page: string): Row[] {
  return JSON.parse(page) as Row[];
}

export async function loadContext(text: string, pages: PageStore) {
  const stored = loadStored(text);
  const slots = new Map<string, Slot>();
  for (const page of await Promise.all(stored.pages.map(({ sha256 }) => pages.load(sha256)))) {
    addRows(slots, rowsIn(page));
  }
  for (const key of stored.removed) slots.delete(key);
  addRows(slots, stored.inline);
  return { context: new Context(slots.values()), stored };
}

/** The stored form of `context`, which is `before` plus `changes`; pages that it needs are saved first. */
export async function storeContext(
  context: Context,
  before: StoredContext,
  changes: Changes,
  pages: PageStore,
): Promise<StoredContext> {
  const slots = new Map<string, Slot>();
  addRows(slots, before.inline);
  for (const key of changes.delete) slots.delete(key);
  for (const { key } of changes.set) {
    const slot = context.slot(key);
    if (slot) slots.set(key, slot);
  }
  const inline = rowsOf(slots.values());
  // A deleted key must stay hidden even when it is set again later: it then belongs at the end of the order.
  const removed = before.pages.length === 0 ? [] : Array.from(new Set([...before.removed, ...changes.delete]));
  const next: StoredContext = { pages: before.pages, removed, inline, deleted: changes.delete };
  if (sizeOf(removed) > removedLimitBytes) return { ...next, ...(await onePage(context, pages)) };
  if (sizeOf(inline) <= inlineLimitBytes) return next;
  return removed.length > 0
    ? { ...next, ...(await onePage(context, pages)) }
    : { ...next, inline: [], pages: await pushPage(before.pages, inline, pages) };
}

export const emptyStored: StoredContext = { pages: [], removed: [], inline: [], deleted: [] };

async function onePage(context: Context, pages: PageStore) {
  return { pages: [await savePage(rowsOf(context.slots()), pages)], removed: [], inline: [] };
}

async function pushPage(existing: StoredContext["pages"], rows: Row[], pages: PageStore) {
  const list = [...existing];
  let merged = rows;
  let size = sizeOf(rows);
  for (let last = list.at(-1); last && last.bytes < 2 * size; last = list.at(-1)) {
    list.pop();
    const slots = new Map<string, Slot>();
    addRows(slots, rowsIn(await pages.load(last.sha256)));
    addRows(slots, merged);
    merged = rowsOf(slots.values());
    size = sizeOf(merged);
  }
  return [...list, await savePage(merged, pages)];
}

async function savePage(rows: Row[], pages: PageStore): Promise<StoredContext["pages"][number]> {
  const text = JSON.stringify(rows);
  const page = { sha256: sha256(text), bytes: Buffer.byteLength(text) };
  await pages.save(page.sha256, text);
  return page;
}

function addRows(slots: Map<string, Slot>, rows: Row[]): void {
  for (const [key, by, json] of rows) slots.set(key, { key, by, json });
}

function rowsOf(slots: Iterable<Slot>): Row[] {
  return Array.from(slots, ({ key, by, json }): Row => [key, by, json]);
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Pages kept in a warm Lambda, in characters over all executions. */
const maxKept = 16 * 1024 * 1024;
const caches = new WeakMap<BlobStore, LRUCache<string, string>>();

/** Context pages as blobs of the execution; immutable, so a warm Lambda keeps the recent ones. */
export function blobPages(blobs: BlobStore, home: BlobHome): PageStore {
  const cache =
    caches.get(blobs) ?? new LRUCache<string, string>({ maxSize: maxKept, sizeCalculation: (text) => text.length + 1 });
  caches.set(blobs, cache);
  const keyOf = (sha256: string) => `${home.client}/${home.root}/${sha256}`;
  return {
    async load(sha256) {
      const kept = cache.get(keyOf(sha256));
      if (kept !== undefined) return kept;
      const text = Buffer.from(await blobs.get(home, sha256)).toString();
      cache.set(keyOf(sha256), text);
      return text;
    },
    async save(sha256, text) {
      const body = Buffer.from(text);
      await blobs.put(home, { sha256, bytes: body.length, type: "json" }, body);
      cache.set(keyOf(sha256), text);
    },
  };
}
