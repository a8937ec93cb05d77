import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EncodedKey } from "../values/key.ts";

/** An item as it is stored: its JSON text, and its size as DynamoDB counts it. */
export interface StoredItem {
  id: number;
  item: string;
  bytes: number;
}

/** A stretch of sort keys in one partition: `from` is in it, `to` is not. */
export interface Stretch {
  hash: Uint8Array;
  from: Uint8Array;
  to: Uint8Array;
}

/** A stretch of partitions: behind `after`, in front of the hash `to`. */
export interface Sweep {
  after: EncodedKey;
  to: Uint8Array;
}

export class Items {
  readonly #find: StatementSync;
  readonly #insert: StatementSync;
  readonly #replace: StatementSync;
  readonly #remove: StatementSync;
  readonly #clear: StatementSync;
  readonly #forward: StatementSync;
  readonly #backward: StatementSync;
  readonly #sweep: StatementSync;

  constructor(database: DatabaseSync) {
    const stretch = `SELECT id, item, bytes FROM items WHERE tableId = ? AND hash = ? AND sort >= ? AND sort < ?
      ORDER BY sort`;
    this.#find = database.prepare("SELECT id, item, bytes FROM items WHERE tableId = ? AND hash = ? AND sort = ?");
    this.#insert = database.prepare("INSERT INTO items (tableId, hash, sort, item, bytes) VALUES (?, ?, ?, ?, ?)");
    this.#replace = database.prepare("UPDATE items SET item = ?, bytes = ? WHERE id = ?");
    this.#remove = database.prepare("DELETE FROM items WHERE id = ?");
    this.#clear = database.prepare("DELETE FROM items WHERE tableId = ?");
    this.#forward = database.prepare(stretch);
    this.#backward = database.prepare(`${stretch} DESC`);
    this.#sweep = database.prepare(`SELECT id, item, bytes FROM items
      WHERE tableId = ? AND (hash, sort) > (?, ?) AND hash < ? ORDER BY hash, sort`);
  }

  find(table: number, { hash, sort }: EncodedKey): StoredItem | undefined {
    return this.#find.get(table, hash, sort) as StoredItem | undefined;
  }

  /** Answers the row. */
  insert(table: number, { hash, sort }: EncodedKey, item: string, bytes: number): number {
    return Number(this.#insert.run(table, hash, sort, item, bytes).lastInsertRowid);
  }

  replace(id: number, item: string, bytes: number): void {
    this.#replace.run(item, bytes, id);
  }

  remove(id: number): void {
    this.#remove.run(id);
  }

  /** Removes the items of a table. */
  clear(table: number): void {
    this.#clear.run(table);
  }

  stretch(table: number, { hash, from, to }: Stretch, forward: boolean): Iterable<StoredItem> {
    const statement = forward ? this.#forward : this.#backward;
    return statement.iterate(table, hash, from, to) as Iterable<unknown> as Iterable<StoredItem>;
  }

  sweep(table: number, { after, to }: Sweep): Iterable<StoredItem> {
    return this.#sweep.iterate(table, after.hash, after.sort, to) as Iterable<unknown> as Iterable<StoredItem>;
  }
}
