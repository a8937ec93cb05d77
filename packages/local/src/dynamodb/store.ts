import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";

/** The DynamoDB folder belongs to another process, or cannot be opened. */
export class DynamoDbFolderError extends Error {
  override name = "DynamoDbFolderError";
}

interface StoredTable {
  TableStatus: string;
  GlobalSecondaryIndexes?: { IndexStatus: string }[];
}

/**
 * The LevelDB folder, looked at before dynalite opens it: dynalite throws out of reach of any catch when the folder is
 * in use, and a process that dies between its two writes of a new table leaves it CREATING for ever.
 */
export async function prepareStore(dataDir: string): Promise<string> {
  const path = join(dataDir, "dynamodb");
  await mkdir(path, { recursive: true });
  const db = new ClassicLevel<string, StoredTable>(path, { valueEncoding: "json" });
  try {
    await db.open();
  } catch (cause) {
    const advice = "close the other process that uses this data folder, or choose another folder";
    throw new DynamoDbFolderError(`${path} cannot be opened - ${advice}`, { cause });
  }
  for await (const [key, table] of db.iterator({ gte: "table~", lt: "table~\xff" })) {
    if (table.TableStatus === "CREATING") await db.put(key, activated(table));
  }
  await db.close();
  return path;
}

function activated(table: StoredTable): StoredTable {
  const indexes = table.GlobalSecondaryIndexes?.map((index) => ({ ...index, IndexStatus: "ACTIVE" }));
  return { ...table, TableStatus: "ACTIVE", ...(indexes && { GlobalSecondaryIndexes: indexes }) };
}
