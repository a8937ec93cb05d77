import { type FSWatcher, statSync, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isWorkflowFolder, passedOver } from "./workflow-folders.ts";

/** A change of several files is one change: editors and git write them one after the other. */
const settledMs = 60;

export interface FolderWatch {
  close(): void;
}

/**
 * Calls `onChange` with a root when something in it has changed. Each folder is watched by itself: Node's recursive
 * watch would go through `.nova`, which lies in the folder of whoever works there.
 */
export async function watchFolders(roots: readonly string[], onChange: (root: string) => void): Promise<FolderWatch> {
  const watches = roots.map((root) => new RootWatch(root, () => onChange(root)));
  await Promise.all(watches.map((one) => one.look()));
  return {
    close() {
      for (const one of watches) one.close();
    },
  };
}

class RootWatch {
  readonly #root: string;
  readonly #onChange: () => void;
  readonly #watched = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(root: string, onChange: () => void) {
    this.#root = root;
    this.#onChange = onChange;
  }

  /** Watches folders that are new, and no longer those that are gone. */
  async look(): Promise<void> {
    const there = new Set(await foldersBelow(this.#root));
    for (const [folder, watcher] of this.#watched) if (!there.has(folder)) this.#drop(folder, watcher);
    for (const folder of there) if (!this.#watched.has(folder) && !this.#isClosed) this.#watch(folder);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const [folder, watcher] of this.#watched) this.#drop(folder, watcher);
  }

  #watch(folder: string): void {
    const watcher = watch(folder, (_event, name) => {
      if (name === null || this.#isOurs(folder, name)) this.#noteChange();
    });
    watcher.on("error", () => this.#drop(folder, watcher));
    this.#watched.set(folder, watcher);
  }

  /** Beside workflow folders lie files that have nothing to do with them, such as what this process prints into. */
  #isOurs(folder: string, name: string): boolean {
    if (passedOver.test(name)) return false;
    if (folder !== this.#root || isWorkflowFolder(this.#root)) return true;
    return !statSync(join(folder, name), { throwIfNoEntry: false })?.isFile();
  }

  #drop(folder: string, watcher: FSWatcher): void {
    watcher.close();
    this.#watched.delete(folder);
  }

  #noteChange(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.look().then(this.#onChange), settledMs);
  }
}

async function foldersBelow(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => null);
  if (entries === null) return [];
  const below = entries.filter((entry) => entry.isDirectory() && !passedOver.test(entry.name));
  const nested = await Promise.all(below.map(({ name }) => foldersBelow(join(root, name))));
  return [root, ...nested.flat()];
}
