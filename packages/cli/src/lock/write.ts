import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  analysisFileOf,
  codeFileOf,
  codeFileText,
  hashOf,
  type LockedCode,
  type LockRecord,
  lockFileName,
  lockText,
  type ReadLock,
} from "@nova/workflow";
import { writeInside } from "../write-inside.ts";
import type { LockFolder } from "./folder.ts";
import type { Planned } from "./plan.ts";

/** Writes only the lock file; the code files stay unchanged. */
export async function writeLockFile({ folder }: LockFolder, records: Record<string, LockRecord>): Promise<void> {
  await write(folder, lockFileName, lockText(records));
}

/** The planned code by node. */
export function plannedCode(planned: readonly Planned[]): Record<string, LockedCode> {
  return Object.fromEntries(planned.flatMap(({ node, locked }) => (locked ? [[node, locked]] : [])));
}

/** Writes the code files and then the lock file. It returns the nodes whose entries were removed. Edited files stay. */
export async function writeLock(
  lockFolder: LockFolder,
  locked: Record<string, LockedCode>,
): Promise<{ removed: string[] }> {
  const { folder, entries } = lockFolder;
  const removed = Object.keys(entries).filter((node) => !Object.hasOwn(locked, node));
  if (Object.keys(locked).length === 0 && removed.length === 0) return { removed };
  for (const [node, { code, codeHash, analysis }] of Object.entries(locked)) {
    const entry = entries[node];
    if (entry?.state === "locked" && entry.record.codeHash === codeHash) continue;
    await write(folder, codeFileOf(node), codeFileText(code));
    if (analysis !== undefined) await write(folder, analysisFileOf(node), codeFileText(analysis));
  }
  await writeLockFile(lockFolder, locked);
  for (const [node, entry] of Object.entries(entries)) {
    const now = Object.hasOwn(locked, node) ? locked[node] : undefined;
    for (const file of goneFiles(node, entry, now)) await rm(join(folder, file), { force: true });
  }
  return { removed };
}

/** The unchanged files of an entry that are no longer needed. */
function goneFiles(node: string, entry: ReadLock, now: LockedCode | undefined): string[] {
  if (!now && entry.state !== "locked") return [];
  const analysis = entry.state === "missing" ? undefined : entry.analysis;
  const isAsLocked = analysis !== undefined && hashOf(analysis) === entry.record.analysisHash;
  return [
    ...(now ? [] : [codeFileOf(node)]),
    ...(isAsLocked && now?.analysis === undefined ? [analysisFileOf(node)] : []),
  ];
}

function write(folder: string, path: string, text: string): Promise<void> {
  return writeInside(folder, path, text, { replaces: true });
}
