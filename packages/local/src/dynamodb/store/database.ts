import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** The DynamoDB file belongs to another process, or cannot be opened. */
export class DynamoDbFolderError extends Error {
  override name = "DynamoDbFolderError";
}

/**
 * `items` is a table with row ids, not one ordered by its key: an item can be large, and a tree of large rows is deep.
 * An index entry points at the item's row, so that what an index projects is never stored twice.
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
  CREATE TABLE IF NOT EXISTS tokens (token TEXT PRIMARY KEY, request TEXT NOT NULL, seconds INTEGER NOT NULL);
`;

/**
 * One SQLite file that this process alone may open, with a write-ahead log. A commit hands the log to the operating
 * system before it returns, so what was acknowledged survives the death of the process; `synchronous = NORMAL` does
 * not wait for the disk, so a loss of power may take the last commits (never the file's consistency).
 */
export function openDatabase(dataDir: string | null): DatabaseSync {
  if (dataDir === null) return prepared(new DatabaseSync(":memory:"));
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, "dynamodb.sqlite");
  try {
    return prepared(new DatabaseSync(path, { timeout: 0 }));
  } catch (cause) {
    const advice = "close the other process that uses this data folder, or choose another folder";
    throw new DynamoDbFolderError(`${path} cannot be opened - ${advice}`, { cause });
  }
}

function prepared(database: DatabaseSync): DatabaseSync {
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    // What was deleted is overwritten: erased data is in no page of the file.
    database.exec(`PRAGMA secure_delete = ON; PRAGMA cache_size = -16000; BEGIN IMMEDIATE; ${schema} COMMIT`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
