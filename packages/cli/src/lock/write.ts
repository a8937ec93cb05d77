import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeFileOf, codeFileText, type LockedCode, type LockRecord, lockFileName, lockText } from "@nova/workflow";
import type { LockFolder } from "./folder.ts";

/** The lock file alone: its code files stay as they are. */
export async function writeLockFile({ folder }: LockFolder, records: Record<string, LockRecord>): Promise<void> {
  await write(join(folder, lockFileName), lockText(records));
}

/** Writes code files and then the lock file; answers the nodes whose entries went. A file that somebody edited stays. */
export async function writeLock(
  lockFolder: LockFolder,
  locked: Record<string, LockedCode>,
): Promise<{ removed: string[] }> {
  const { folder, entries } = lockFolder;
  const removed = Object.keys(entries).filter((node) => !Object.hasOwn(locked, node));
  if (Object.keys(locked).length === 0 && removed.length === 0) return { removed };
  for (const [node, { code, codeHash }] of Object.entries(locked)) {
    const entry = entries[node];
    const isThere = entry?.state === "locked" && entry.record.codeHash === codeHash;
    if (!isThere) await write(join(folder, codeFileOf(node)), codeFileText(code));
  }
  await writeLockFile(lockFolder, locked);
  for (const node of removed) {
    if (entries[node]?.state === "locked") await rm(join(folder, codeFileOf(node)), { force: true });
  }
  return { removed };
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
