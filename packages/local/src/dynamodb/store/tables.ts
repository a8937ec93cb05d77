import type { DatabaseSync, StatementSync } from "node:sqlite";
import { DynamoDbError } from "../errors.ts";
import { keySchemaOf, type Table, type TableDescription } from "./table.ts";

/** What is stored of a table; the numbers of its indexes by name, never used twice. */
interface State {
  description: TableDescription;
  indexIds: Record<string, number>;
}

/** The tables of this process's own file, so what was read once stays true. */
export class Tables {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #save: StatementSync;
  readonly #remove: StatementSync;
  readonly #tables = new Map<string, Table>();
  #lastIndex = 0;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#insert = database.prepare("INSERT INTO tables (name, state) VALUES (?, ?)");
    this.#save = database.prepare("UPDATE tables SET state = ? WHERE id = ?");
    this.#remove = database.prepare("DELETE FROM tables WHERE id = ?");
    this.reload();
  }

  /** Forgets what a rolled back transaction had changed. */
  reload(): void {
    this.#tables.clear();
    for (const { id, state } of this.#database.prepare("SELECT id, state FROM tables").all()) {
      const { description, indexIds } = JSON.parse(state as string) as State;
      this.#lastIndex = Math.max(this.#lastIndex, ...Object.values(indexIds));
      const table = tableOf(id as number, description, (name) => indexIds[name] as number);
      this.#tables.set(table.name, table);
    }
  }

  names(): string[] {
    return [...this.#tables.keys()].sort();
  }

  find(name: string): Table | undefined {
    return this.#tables.get(name);
  }

  /** For reading and writing items. */
  get(name: string): Table {
    const table = this.#tables.get(name);
    if (table) return table;
    throw new DynamoDbError("ResourceNotFoundException", "Requested resource not found");
  }

  /** For what is done to the table itself. */
  named(name: string): Table {
    const table = this.#tables.get(name);
    if (table) return table;
    throw new DynamoDbError("ResourceNotFoundException", `Requested resource not found: Table: ${name} not found`);
  }

  create(description: TableDescription): Table {
    const { lastInsertRowid } = this.#insert.run(description.TableName, "");
    const table = tableOf(Number(lastInsertRowid), description, () => ++this.#lastIndex);
    const indexIds = Object.fromEntries(table.indexes.map(({ name, id }) => [name, id]));
    this.#save.run(JSON.stringify({ description, indexIds } satisfies State), table.id);
    this.#tables.set(table.name, table);
    return table;
  }

  remove(table: Table): void {
    this.#remove.run(table.id);
    this.#tables.delete(table.name);
  }
}

function tableOf(id: number, description: TableDescription, idOf: (index: string) => number): Table {
  const indexes = (description.GlobalSecondaryIndexes ?? []).map(({ IndexName, KeySchema }) => ({
    id: idOf(IndexName),
    name: IndexName,
    key: keySchemaOf(KeySchema, description),
  }));
  return {
    id,
    name: description.TableName,
    key: keySchemaOf(description.KeySchema, description),
    indexes,
    description,
  };
}
