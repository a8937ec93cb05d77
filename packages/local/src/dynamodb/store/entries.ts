import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EncodedKey } from "../values/key.ts";
import type { StoredItem, Stretch, Sweep } from "./items.ts";

/** Where an item lies in an index: its key there, and its own key, which orders items whose index keys are equal. */
export interface Entry extends EncodedKey {
  itemKey: Uint8Array;
}

export class Entries {
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  readonly #clear: StatementSync;
  readonly #forward: StatementSync;
  readonly #backward: StatementSync;
  readonly #sweep: StatementSync;

  constructor(database: DatabaseSync) {
    const rows = "SELECT id, item, bytes FROM entries JOIN items ON items.id = itemId WHERE indexId = ?";
    const order = "entries.sort, itemKey";
    const stretch = `${rows} AND entries.hash = ? AND entries.sort >= ? AND entries.sort < ?`;
    const key = "indexId = ? AND hash = ? AND sort = ? AND itemKey = ?";
    this.#put = database.prepare("INSERT INTO entries (indexId, hash, sort, itemKey, itemId) VALUES (?, ?, ?, ?, ?)");
    this.#remove = database.prepare(`DELETE FROM entries WHERE ${key}`);
    this.#clear = database.prepare("DELETE FROM entries WHERE indexId = ?");
    this.#forward = database.prepare(`${stretch} AND (${order}) > (?, ?) ORDER BY ${order}`);
    this.#backward = database.prepare(`${stretch} AND (${order}) < (?, ?) ORDER BY entries.sort DESC, itemKey DESC`);
    this.#sweep = database.prepare(
      `${rows} AND (entries.hash, ${order}) > (?, ?, ?) AND entries.hash < ? ORDER BY entries.hash, ${order}`,
    );
  }

  put(index: number, { hash, sort, itemKey }: Entry, item: number): void {
    this.#put.run(index, hash, sort, itemKey, item);
  }

  remove(index: number, { hash, sort, itemKey }: Entry): void {
    this.#remove.run(index, hash, sort, itemKey);
  }

  /** Removes the entries of an index. */
  clear(index: number): void {
    this.#clear.run(index);
  }

  /** Of the stretch what lies behind `start`, in the direction of reading. */
  stretch(index: number, { hash, from, to }: Stretch, forward: boolean, start: Omit<Entry, "hash">) {
    const statement = forward ? this.#forward : this.#backward;
    const rows = statement.iterate(index, hash, from, to, start.sort, start.itemKey);
    return rows as Iterable<unknown> as Iterable<StoredItem>;
  }

  sweep(index: number, { after, to }: Sweep & { after: Entry }): Iterable<StoredItem> {
    const rows = this.#sweep.iterate(index, after.hash, after.sort, after.itemKey, to);
    return rows as Iterable<unknown> as Iterable<StoredItem>;
  }
}

/** The key of an item as one text of bytes, the same for no other item. */
export function itemKeyOf({ hash, sort }: EncodedKey): Uint8Array {
  const length = Buffer.allocUnsafe(2);
  length.writeUInt16BE(hash.length);
  return Buffer.concat([length, hash, sort]);
}
