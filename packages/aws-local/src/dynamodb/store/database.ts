import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/** Thrown if the DynamoDB file belongs to another process, or cannot be opened. */
export class DynamoDbFolderError extends Error {
  override name = "DynamoDbFolderError";
}

/**
 * Rows of the table `items` are sorted by row id and not by key. A tree that is sorted by key would hold the large
 * items in its nodes, and become deep. The table `entries` has the entries of secondary indexes. Each entry refers to
 * the row of its item, so an index stores no copy of the item.
 */
const schema = `
  CREATE TABLE IF NOT EXISTS tables (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS items (
    id INTEGER PRIMARY KEY, tableId INTEGER NOT NULL, hash BLOB NOT NULL, sort BLOB NOT NULL,
    item TEXT NOT NULL, bytes INTEGER NOT NULL, UNIQUE (tableId, hash, sort)
  );
  CREATE TABLE IF NOT EXISTS entries (
    indexId INTEGER NOT NULL, hash BLOB NOT NULL, sort BLOB NOT NULL, itemKey BLOB NOT NULL, itemId INTEGER NOT NULL,
    PRIMARY KEY (indexId, hash, sort, itemKey)
  ) WITHOUT ROWID;
`;

/**
 * Opens the SQLite file with a write-ahead log; no other process may open the file. A commit passes the log to the
 * operating system before it returns, so acknowledged writes survive the death of the process. `synchronous = NORMAL`
 * does not wait for the disk. So a loss of power may lose the last commits, but cannot damage the file.
 */
export function openDatabase(dataDir: string | null, isReadOnly: boolean): DatabaseSync {
  if (dataDir === null) return prepareDatabase(new DatabaseSync(":memory:"));
  const path = join(dataDir, "dynamodb.sqlite");
  try {
    if (isReadOnly) return onlyRead(path);
    mkdirSync(dataDir, { recursive: true });
    return prepareDatabase(new DatabaseSync(path, { timeout: 0 }));
  } catch (cause) {
    const advice = "close the other process that uses this data folder, or choose another folder";
    throw new DynamoDbFolderError(`${path} cannot be opened - ${advice}`, { cause });
  }
}

/**
 * Opens the database in a read-only folder. If a killed process left a log, it opens a copy of the database, because
 * SQLite can read a log only in a folder that it can write.
 */
function onlyRead(path: string): DatabaseSync {
  const log = `${path}-wal`;
  if (!statSync(log, { throwIfNoEntry: false })?.size) {
    const url = pathToFileURL(path);
    url.search = "immutable=1";
    return new DatabaseSync(url, { readOnly: true });
  }
  const folder = mkdtempSync(join(tmpdir(), "nova-read-"));
  try {
    const copy = join(folder, "dynamodb.sqlite");
    copyFileSync(path, copy);
    copyFileSync(log, `${copy}-wal`);
    const database = prepareDatabase(new DatabaseSync(copy));
    database.exec("PRAGMA query_only = ON");
    return database;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function prepareDatabase(database: DatabaseSync): DatabaseSync {
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    // `secure_delete` overwrites deleted data with zeros, so erased data can no longer be found in the file.
    database.exec(`PRAGMA secure_delete = ON; PRAGMA cache_size = -16000; BEGIN IMMEDIATE; ${schema} COMMIT`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A template tag for SQL statements. Each statement is prepared once, and closed with the database. */
export type Sql = ReturnType<typeof sqlOf>;

export function sqlOf(database: DatabaseSync) {
  const prepareDatabase = new Map<TemplateStringsArray, StatementSync>();
  return (text: TemplateStringsArray, ...values: SQLInputValue[]) => {
    const statement = prepareDatabase.get(text) ?? database.prepare(text.join("?"));
    prepareDatabase.set(text, statement);
    return {
      run: () => statement.run(...values),
      first: <T>() => statement.get(...values) as T | undefined,
      rows: <T>() => statement.iterate(...values) as Iterable<unknown> as Iterable<T>,
    };
  };
}
