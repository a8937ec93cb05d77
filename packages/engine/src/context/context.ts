import { type Member, valueAt } from "@nova/workflow";
import { LRUCache } from "lru-cache";
import type { BlobHome, BlobStore } from "../ports/blobs.ts";
import type { EntryId } from "../ports/chain.ts";
import { sha256 } from "../sha256.ts";

/** Names the entry that wrote a key: its number on the main line, or its scope and number in a branch. */
type LinkLabel = number | string;

export function linkLabel({ scope, seq }: Omit<EntryId, "execution">): LinkLabel {
  return scope === "" ? seq : `${scope}#${seq}`;
}

/** Returns whether the entry with this label is in the branch `scope`, or in a branch inside it. */
export function isWithin(label: LinkLabel, scope: string): boolean {
  return typeof label === "string" && (label.startsWith(`${scope}#`) || label.startsWith(`${scope}/`));
}

/**
 * One top-level key of a context with its value and the label of the entry that wrote it. The value is JSON text and
 * may contain references to blobs.
 */
export interface Slot extends Member {
  by: LinkLabel;
}

/** The changes of a node: the values that it sets, and the keys that it deletes. */
export interface Changes {
  set: Member[];
  delete: string[];
}

/** The data of a run after one entry: a JSON object as text, with its keys in order. Immutable. */
export class Context {
  readonly #slots: ReadonlyMap<string, Slot>;

  constructor(slots: Iterable<Slot> = []) {
    this.#slots = new Map(Array.from(slots, (slot) => [slot.key, slot]));
  }

  apply(changes: Changes, by: LinkLabel): Context {
    const next = new Map(this.#slots);
    for (const key of changes.delete) next.delete(key);
    for (const { key, json } of changes.set) next.set(key, { key, json, by });
    return new Context(next.values());
  }

  without(key: string): Context {
    if (!this.#slots.has(key)) return this;
    return new Context(Array.from(this.#slots.values()).filter((slot) => slot.key !== key));
  }

  slots(): Slot[] {
    return Array.from(this.#slots.values());
  }

  slot(key: string): Slot | undefined {
    return this.#slots.get(key);
  }

  /**
   * Returns the JSON text of the value at a dot path. It reads no blobs, so it finds no value inside a blob. A key that
   * contains dots takes precedence over a path.
   */
  get(path: string): string | undefined {
    const found = this.find(path);
    return found && valueAt(found.json, found.inside);
  }

  /**
   * Splits a dot path into its longest prefix that is a key, and the remaining steps. Returns that key's value and
   * these steps.
   */
  find(path: string): { json: string; inside: string[] } | undefined {
    const steps = path.split(".");
    for (let length = steps.length; length > 0; length--) {
      const slot = this.#slots.get(steps.slice(0, length).join("."));
      if (slot) return { json: slot.json, inside: steps.slice(length) };
    }
    return undefined;
  }

  /** Returns the members whose values come from the entry with this label. Code reads them as `outputs[node]`. */
  writtenBy(link: LinkLabel): Member[] {
    return this.slots().filter((slot) => slot.by === link);
  }
}

/**
 * The stored form of a context: a few KB per entry, however large the context is. Recent keys are inline. Older keys
 * are in pages: blobs that are written once and shared by all later entries. A full inline part becomes a page, and
 * pages of similar size merge. So the number of pages grows with the logarithm of the context, and each node costs the
 * same. If a key occurs several times, the newest value of the key counts, at the position of the oldest value.
 */
export interface StoredContext {
  pages: { sha256: string; bytes: number }[];
  removed: string[];
  inline: Row[];
  deleted: string[];
}

export type Row = [key: string, by: LinkLabel, json: string];

/**
 * The maximum size of the inline part, in bytes of JSON. In an item of 8 KB it leaves space for the head, the error and
 * logs.
 */
const inlineLimitBytes = 4096;
const removedLimitBytes = 1024;

export interface PageStore {
  load(sha256: string): Promise<string>;
  save(sha256: string, text: string): Promise<void>;
}

/** Parses the stored form of a context. Does not load its pages. */
export function loadStored(text: string): StoredContext {
  return JSON.parse(text) as StoredContext;
}

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

/** Builds the stored form of `context`, which is `before` plus `changes`. It saves new pages first. */
export async function storeContext(context: Context, before: StoredContext, changes: Changes, pages: PageStore) {
  const slots = new Map<string, Slot>();
  addRows(slots, before.inline);
  for (const key of changes.delete) slots.delete(key);
  for (const { key } of changes.set) {
    const slot = context.slot(key);
    if (slot) slots.set(key, slot);
  }
  const inline = rowsOf(slots.values());
  // A deleted key stays in `removed` even if it is set again. Otherwise its old value in a page would put the key at
  // its old position.
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

/** The maximum of characters in the pages that a process keeps in memory, over all executions. */
const maxKept = 16 * 1024 * 1024;
const caches = new WeakMap<BlobStore, LRUCache<string, string>>();

/**
 * Stores context pages as blobs of the execution. Pages never change, so a warm Lambda keeps recent pages in memory.
 */
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
