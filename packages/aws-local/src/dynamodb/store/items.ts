import type { EncodedKey, SortKeyRange } from "../values/key.ts";
import type { Sql } from "./database.ts";

/** A stored item: its JSON text, and its size as DynamoDB counts it. */
export interface StoredItem {
  id: number;
  item: string;
  bytes: number;
}

export class Items {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  find(table: number, { hash, sort }: EncodedKey): StoredItem | undefined {
    return this.#sql`
      SELECT id, item, bytes FROM items WHERE tableId = ${table} AND hash = ${hash} AND sort = ${sort}`.first();
  }

  /** Stores an item as a new row, and returns the id of the row. */
  insert(table: number, { hash, sort }: EncodedKey, item: string, bytes: number): number {
    const { lastInsertRowid } = this.#sql`
      INSERT INTO items (tableId, hash, sort, item, bytes) VALUES (${table}, ${hash}, ${sort}, ${item}, ${bytes})`.run();
    return Number(lastInsertRowid);
  }

  replace(id: number, item: string, bytes: number): void {
    this.#sql`UPDATE items SET item = ${item}, bytes = ${bytes} WHERE id = ${id}`.run();
  }

  remove(id: number): void {
    this.#sql`DELETE FROM items WHERE id = ${id}`.run();
  }

  stretch(table: number, { hash, from, to }: SortKeyRange, forward: boolean): Iterable<StoredItem> {
    const statement = forward
      ? this.#sql`SELECT id, item, bytes FROM items
          WHERE tableId = ${table} AND hash = ${hash} AND sort >= ${from} AND sort < ${to} ORDER BY sort`
      : this.#sql`SELECT id, item, bytes FROM items
          WHERE tableId = ${table} AND hash = ${hash} AND sort >= ${from} AND sort < ${to} ORDER BY sort DESC`;
    return statement.rows<StoredItem>();
  }

  /** Returns the items whose keys sort after `after`, in all partitions. */
  sweep(table: number, after: EncodedKey): Iterable<StoredItem> {
    return this.#sql`SELECT id, item, bytes FROM items
      WHERE tableId = ${table} AND (hash, sort) > (${after.hash}, ${after.sort}) ORDER BY hash, sort`.rows();
  }
}
