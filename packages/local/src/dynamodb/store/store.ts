import type { DatabaseSync } from "node:sqlite";
import { openDatabase } from "./database.ts";
import { Entries } from "./entries.ts";
import { Items } from "./items.ts";
import { Tables } from "./tables.ts";

/** Everything that is kept. SQLite answers at once, so no operation can come between two steps of another. */
export class Store {
  readonly tables: Tables;
  readonly items: Items;
  readonly entries: Entries;
  readonly #database: DatabaseSync;
  readonly #statements: Record<"begin" | "commit" | "rollback", { run(): unknown }>;
  #isOpen = false;

  constructor(dataDir: string | null, isReadOnly = false) {
    const database = openDatabase(dataDir, isReadOnly);
    this.#database = database;
    this.tables = new Tables(database);
    this.items = new Items(database);
    this.entries = new Entries(database);
    this.#statements = {
      begin: database.prepare("BEGIN IMMEDIATE"),
      commit: database.prepare("COMMIT"),
      rollback: database.prepare("ROLLBACK"),
    };
  }

  /** All that `work` writes becomes visible, and lasting, at once or not at all; inside another such work, with it. */
  atomically<T>(work: () => T): T {
    if (this.#isOpen) return work();
    this.#statements.begin.run();
    this.#isOpen = true;
    try {
      const result = work();
      this.#statements.commit.run();
      return result;
    } catch (error) {
      // SQLite has rolled back by itself where the disk is full.
      if (this.#database.isTransaction) this.#statements.rollback.run();
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
