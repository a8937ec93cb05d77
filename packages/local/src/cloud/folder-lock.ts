import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { LocalCloudError } from "./errors.ts";

/** The exclusive right to a data folder. The kernel takes it back from a process that dies, however it dies. */
export interface FolderLock {
  release(): void;
}

const SQLITE_BUSY = 5;

/**
 * Null: another process has it. A pid in a file would have to be doubted (dead? another process by now?); a lock of
 * the kernel need not, and SQLite's is the one that Node can take on every system.
 */
export function lockFolder(dataDir: string): FolderLock | null {
  const path = join(dataDir, "owner.lock");
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return null;
    const advice = "delete that file if no other process uses the folder";
    throw new LocalCloudError(`${path} cannot be locked - ${advice}`, { cause: error });
  }
}
