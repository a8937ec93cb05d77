import type { EncodedKey, SortKeyRange } from "../values/key.ts";
import type { Sql } from "./database.ts";
import type { StoredItem } from "./items.ts";

/**
 * The entry of an item in an index: the item's key in the index, and the item's own key, which orders entries with
 * equal index keys.
 */
export interface Entry extends EncodedKey {
  itemKey: Uint8Array;
}

export class Entries {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  put(index: number, { hash, sort, itemKey }: Entry, item: number): void {
    this.#sql`
      INSERT INTO entries (indexId, hash, sort, itemKey, itemId) VALUES (${index}, ${hash}, ${sort}, ${itemKey}, ${item})`.run();
  }

  remove(index: number, { hash, sort, itemKey }: Entry): void {
    this.#sql`
      DELETE FROM entries WHERE indexId = ${index} AND hash = ${hash} AND sort = ${sort} AND itemKey = ${itemKey}`.run();
  }

  /** Returns the items whose entries are in the range and come after `start` in the direction of the scan. */
  stretch(index: number, { hash, from, to }: SortKeyRange, forward: boolean, start: Omit<Entry, "hash">) {
    const statement = forward
      ? this.#sql`SELECT id, item, bytes FROM entries JOIN items ON items.id = itemId
          WHERE indexId = ${index} AND entries.hash = ${hash} AND entries.sort >= ${from} AND entries.sort < ${to}
          AND (entries.sort, itemKey) > (${start.sort}, ${start.itemKey}) ORDER BY entries.sort, itemKey`
      : this.#sql`SELECT id, item, bytes FROM entries JOIN items ON items.id = itemId
          WHERE indexId = ${index} AND entries.hash = ${hash} AND entries.sort >= ${from} AND entries.sort < ${to}
          AND (entries.sort, itemKey) < (${start.sort}, ${start.itemKey}) ORDER BY entries.sort DESC, itemKey DESC`;
    return statement.rows<StoredItem>();
  }
}

/** Encodes an item's key as one byte string, unique per item. */
export function itemKeyOf({ hash, sort }: EncodedKey): Uint8Array {
  const length = Buffer.allocUnsafe(2);
  length.writeUInt16BE(hash.length);
  return Buffer.concat([length, hash, sort]);
}
