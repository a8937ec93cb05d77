import { invalid, invalidParameter } from "../errors.ts";
import { type AttributeMap, type Attributes, attribute, contentOf, typeOf } from "../values/attribute-value.ts";
import { type EncodedKey, elementsOf, emptyKey, encodeChecked, notValid } from "../values/key.ts";
import { type Entry, itemKeyOf } from "./entries.ts";
import type { StoredItem } from "./items.ts";
import type { Store } from "./store.ts";
import type { Index, Table } from "./tables.ts";

/** The key of an item, and the item that is stored under it now. */
export interface Place {
  table: Table;
  key: EncodedKey;
  old: StoredItem | undefined;
}

export function storeItem(store: Store, place: Place, { attributes, bytes }: Attributes): void {
  const { table, key, old } = place;
  const text = JSON.stringify(attributes);
  const entries = entriesOf(table, attributes, key);
  const write = () => {
    if (old) store.items.replace(old.id, text, bytes);
    return old ? old.id : store.items.insert(table.id, key, text, bytes);
  };
  const before = entriesOfStored(place);
  if (entries.size === 0 && before.size === 0) write();
  else store.atomically(() => moveEntries(store, before, entries, write()));
}

export function removeItem(store: Store, place: Place): void {
  const { old } = place;
  if (!old) return;
  store.atomically(() => {
    store.items.remove(old.id);
    moveEntries(store, entriesOfStored(place), new Map(), old.id);
  });
}

function entriesOfStored({ table, key, old }: Place): Map<Index, Entry> {
  return old && table.indexes.length > 0 ? entriesOf(table, JSON.parse(old.item), key) : new Map();
}

/**
 * Returns the entries of an item in the indexes of its table. The item has no entry in an index if it lacks a key
 * attribute of the index (a sparse index).
 */
export function entriesOf(table: Table, item: AttributeMap, key: EncodedKey): Map<Index, Entry> {
  const entries = new Map<Index, Entry>();
  let itemKey: Uint8Array | undefined;
  for (const index of table.indexes) {
    if (!isIndexed(item, index)) continue;
    itemKey ??= itemKeyOf(key);
    entries.set(index, { ...encodeChecked(item, index.key), itemKey });
  }
  return entries;
}

function moveEntries(store: Store, before: Map<Index, Entry>, after: Map<Index, Entry>, item: number): void {
  for (const [index, entry] of before) {
    if (!isSame(entry, after.get(index))) store.entries.remove(index.id, entry);
  }
  for (const [index, entry] of after) {
    if (!isSame(entry, before.get(index))) store.entries.put(index.id, entry, item);
  }
}

function isSame(a: Entry, b: Entry | undefined): boolean {
  return b !== undefined && Buffer.compare(a.hash, b.hash) === 0 && Buffer.compare(a.sort, b.sort) === 0;
}

/**
 * Returns whether an item belongs to an index, because it has all key attributes of the index. Throws if one of these
 * attributes has the wrong type, or is empty.
 */
function isIndexed(item: AttributeMap, { name: indexName, key }: Index): boolean {
  let isWhole = true;
  for (const { name, type } of elementsOf(key)) {
    const value = attribute(item, name);
    if (value === undefined) {
      isWhole = false;
      continue;
    }
    const actual = typeOf(value);
    if (actual !== type) {
      const what = `Type mismatch for Index Key ${name} Expected: ${type} Actual: ${actual} IndexName: ${indexName}`;
      throw invalidParameter(what);
    }
    if (contentOf(value) === "") {
      const what = `A value specified for a secondary index key is not supported. ${emptyKey}`;
      throw invalid(`${notValid} ${what} IndexName: ${indexName}, IndexKey: ${name}`);
    }
  }
  return isWhole;
}
