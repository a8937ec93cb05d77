import { AwsError } from "../../aws-http/aws-error.ts";
import { elementsOf, type KeySchema } from "../values/key.ts";
import type { Sql } from "./database.ts";

export interface KeySchemaElement {
  AttributeName: string;
  KeyType: "HASH" | "RANGE";
}

/** The part of DescribeTable's response that is stored. */
export interface TableDescription {
  TableName: string;
  AttributeDefinitions: { AttributeName: string; AttributeType: "S" | "N" }[];
  KeySchema: KeySchemaElement[];
  GlobalSecondaryIndexes?: { IndexName: string; KeySchema: KeySchemaElement[] }[];
}

export interface Index {
  id: number;
  name: string;
  key: KeySchema;
}

export interface Table {
  id: number;
  name: string;
  key: KeySchema;
  indexes: Index[];
  description: TableDescription;
}

export function keySchemaOf(elements: KeySchemaElement[], { AttributeDefinitions }: TableDescription): KeySchema {
  const element = (keyType: "HASH" | "RANGE") => {
    const name = elements.find(({ KeyType }) => KeyType === keyType)?.AttributeName;
    const definition = AttributeDefinitions.find(({ AttributeName }) => AttributeName === name);
    return definition && { name: definition.AttributeName, type: definition.AttributeType };
  };
  const [hash, sort] = [element("HASH"), element("RANGE")];
  if (!hash) throw new TypeError("a key schema has no defined hash key - it was not checked when it came in");
  return sort ? { hash, sort } : { hash };
}

/**
 * Returns the attributes of a start key: the key attributes of the table, and those of the index if the request reads
 * an index.
 */
export function positionNames(table: Table, index?: Index): string[] {
  const keys = [table.key, ...(index ? [index.key] : [])];
  return [...new Set(keys.flatMap(elementsOf).map(({ name }) => name))];
}

/** The stored state of a table. The number of an index is never given to another index. */
interface State {
  description: TableDescription;
  indexIds: Record<string, number>;
}

/** The tables of the database. They stay in memory, because only this process changes them. */
export class Tables {
  readonly #sql: Sql;
  readonly #tables = new Map<string, Table>();
  #lastIndex = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.reload();
  }

  /** Reads the tables from the file again, after a rollback has undone changes. */
  reload(): void {
    this.#tables.clear();
    for (const { id, state } of this.#sql`SELECT id, state FROM tables`.rows<{ id: number; state: string }>()) {
      const { description, indexIds } = JSON.parse(state) as State;
      this.#lastIndex = Math.max(this.#lastIndex, ...Object.values(indexIds));
      const table = tableOf(id, description, (name) => indexIds[name] as number);
      this.#tables.set(table.name, table);
    }
  }

  names(): string[] {
    return [...this.#tables.keys()].sort();
  }

  find(name: string): Table | undefined {
    return this.#tables.get(name);
  }

  get(name: string, more = ""): Table {
    const table = this.#tables.get(name);
    if (table) return table;
    throw new AwsError("ResourceNotFoundException", `Requested resource not found${more}`);
  }

  create(description: TableDescription): Table {
    const name = description.TableName;
    const { lastInsertRowid } = this.#sql`INSERT INTO tables (name, state) VALUES (${name}, '')`.run();
    const table = tableOf(Number(lastInsertRowid), description, () => ++this.#lastIndex);
    const indexIds = Object.fromEntries(table.indexes.map(({ name, id }) => [name, id]));
    const state = JSON.stringify({ description, indexIds } satisfies State);
    this.#sql`UPDATE tables SET state = ${state} WHERE id = ${table.id}`.run();
    this.#tables.set(table.name, table);
    return table;
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
