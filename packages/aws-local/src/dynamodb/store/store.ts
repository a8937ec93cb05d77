import type { DatabaseSync } from "node:sqlite";
import { openDatabase, type Sql, sqlOf } from "./database.ts";
import { Entries } from "./entries.ts";
import { Items } from "./items.ts";
import { Tables } from "./tables.ts";

/** All stored data. SQLite answers synchronously, so no operation can run between two steps of another. */
export class Store {
  readonly tables: Tables;
  readonly items: Items;
  readonly entries: Entries;
  readonly #database: DatabaseSync;
  readonly #sql: Sql;
  #isOpen = false;

  constructor(dataDir: string | null, isReadOnly = false) {
    const database = openDatabase(dataDir, isReadOnly);
    this.#database = database;
    this.#sql = sqlOf(database);
    this.tables = new Tables(this.#sql);
    this.items = new Items(this.#sql);
    this.entries = new Entries(this.#sql);
  }

  /**
   * Performs all writes of `work` in one transaction: all of them take effect, or none. Nested calls join the outer
   * transaction.
   */
  atomically<T>(work: () => T): T {
    if (this.#isOpen) return work();
    this.#sql`BEGIN IMMEDIATE`.run();
    this.#isOpen = true;
    try {
      const result = work();
      this.#sql`COMMIT`.run();
      return result;
    } catch (error) {
      // After a write error of a full disk, SQLite has already rolled back, and another ROLLBACK would throw.
      if (this.#database.isTransaction) this.#sql`ROLLBACK`.run();
      this.tables.reload();
      throw error;
    } finally {
      this.#isOpen = false;
    }
  }

  close(): void {
    this.#database.close();
  }
}
