import { type FSWatcher, statSync, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isWorkflowFolder } from "@nova/workflow";
import { nearestPath } from "../files.ts";
import { ignoredFolders } from "./publisher.ts";

/**
 * Milliseconds within which several changes count as one, because editors and git write several files one after
 * another.
 */
const settledMs = 60;

/**
 * `gone`: the root has disappeared; the watch reports this once. `back`: the root exists again, perhaps with other
 * content.
 */
export type FolderNews = "changed" | "gone" | "back";

/**
 * Calls `onNews` with a root when it changes, disappears or returns. Each folder has its own watch, because Node's
 * recursive watch would include `.nova`.
 */
export async function watchFolders(roots: readonly string[], onNews: (root: string, news: FolderNews) => void) {
  const watches = roots.map((root) => watchRoot(resolve(root), (news) => onNews(root, news)));
  await Promise.all(watches.map((one) => one.look()));
  return {
    [Symbol.dispose]() {
      for (const one of watches) one.close();
    },
  };
}

interface Watched {
  /** The watch on the folder; undefined for a folder above the root that this user cannot watch. */
  watcher: FSWatcher | undefined;
  /** Tells this folder apart from another folder that later gets the same path. */
  identity: string;
}

function watchRoot(root: string, onNews: (news: FolderNews) => void) {
  /** The folders above the root, each with the name of the next folder on the path to the root. */
  const around: ReadonlyMap<string, string> = stepsTo(root);
  const watched = new Map<string, Watched>();
  let isGone = false;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /**
   * Updates the watches on all folders of the root and on the folders above the root. A change of a folder above the
   * root shows that the root has disappeared or returned. Returns what has happened to the root.
   */
  async function look(): Promise<FolderNews | undefined> {
    const below = await foldersBelow(root);
    if (isClosed) return undefined;
    const there = new Map([...around.keys(), ...(below ?? [])].map((folder) => [folder, identityOf(folder)]));
    for (const [folder, { identity }] of watched) if (there.get(folder) !== identity) drop(folder);
    for (const [folder, identity] of there)
      if (identity !== undefined && !watched.has(folder)) watched.set(folder, { watcher: open(folder), identity });
    const wasGone = isGone;
    isGone = below === null;
    // The root may have returned before there was a watch on the folder above it. Then no event reports the change, so
    // it is noted here.
    if (isGone && !watched.has(nearestPath(root))) noteChange();
    if (isGone) return wasGone ? undefined : "gone";
    return wasGone ? "back" : "changed";
  }

  function close(): void {
    isClosed = true;
    clearTimeout(timer);
    for (const folder of watched.keys()) drop(folder);
  }

  function open(folder: string): FSWatcher | undefined {
    try {
      const watcher = watch(folder, (_event, name) => {
        if (name === null || isOurs(folder, name)) noteChange();
      });
      return watcher.on("error", () => drop(folder));
    } catch (error) {
      if (around.has(folder)) return undefined;
      throw error;
    }
  }

  /**
   * Returns whether a change of this file may be a change of a workflow. A file next to the workflow folders does not
   * count, because this process may write its output into that file.
   */
  function isOurs(folder: string, name: string): boolean {
    const step = around.get(folder);
    if (step !== undefined) return name === step;
    if (ignoredFolders.test(name)) return false;
    if (folder !== root || isWorkflowFolder(root)) return true;
    return !statSync(join(folder, name), { throwIfNoEntry: false })?.isFile();
  }

  function drop(folder: string): void {
    watched.get(folder)?.watcher?.close();
    watched.delete(folder);
  }

  function noteChange(): void {
    if (isClosed) return;
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const news = await look();
      if (news !== undefined) onNews(news);
    }, settledMs);
  }

  return { look, close };
}

/** Lists all folders below the root; null if the root is not a folder. */
async function foldersBelow(root: string): Promise<string[] | null> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => null);
  if (entries === null) return null;
  const below = entries.filter((entry) => entry.isDirectory() && !ignoredFolders.test(entry.name));
  const nested = await Promise.all(below.map(({ name }) => foldersBelow(join(root, name))));
  return [root, ...nested.flatMap((folders) => folders ?? [])];
}

function stepsTo(folder: string): Map<string, string> {
  const above = dirname(folder);
  return above === folder ? new Map() : new Map([...stepsTo(above), [above, basename(folder)]]);
}

function identityOf(folder: string): string | undefined {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat && `${stat.dev} ${stat.ino} ${stat.birthtimeMs}`;
}
