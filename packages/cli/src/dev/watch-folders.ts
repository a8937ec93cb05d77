import { existsSync, type FSWatcher, statSync, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isWorkflowFolder } from "@nova/workflow";
import { passedOver } from "./publisher.ts";

/** A change of several files is one change: editors and git write them one after the other. */
const settledMs = 60;

/** `gone` is told once; `back` says that it may hold anything now. */
export type FolderNews = "changed" | "gone" | "back";

/**
 * Calls `onNews` with a root when something in it has changed, and when it is gone and back. Each folder is watched by
 * itself: Node's recursive watch would go through `.nova`, which lies in the folder of whoever works there.
 */
export async function watchFolders(roots: readonly string[], onNews: (root: string, news: FolderNews) => void) {
  const watches = roots.map((root) => new RootWatch(resolve(root), (news) => onNews(root, news)));
  await Promise.all(watches.map((one) => one.look()));
  return {
    [Symbol.dispose]() {
      for (const one of watches) one.close();
    },
  };
}

interface Watched {
  /** Absent: a folder around the root that nobody may watch. */
  watcher: FSWatcher | undefined;
  /** Tells a folder from another one that took its name. */
  identity: string;
}

class RootWatch {
  readonly #root: string;
  readonly #onNews: (news: FolderNews) => void;
  /** The folders around the root, each with what leads from it towards the root. */
  readonly #around: ReadonlyMap<string, string>;
  readonly #watched = new Map<string, Watched>();
  #isGone = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(root: string, onNews: (news: FolderNews) => void) {
    this.#root = root;
    this.#around = stepsTo(root);
    this.#onNews = onNews;
  }

  /** Watches the folders that there are now, and those around the root for when it goes or comes back. */
  async look(): Promise<FolderNews | undefined> {
    const below = await foldersBelow(this.#root);
    if (this.#isClosed) return undefined;
    const there = new Map([...this.#around.keys(), ...(below ?? [])].map((folder) => [folder, identityOf(folder)]));
    for (const [folder, { identity }] of this.#watched) if (there.get(folder) !== identity) this.#drop(folder);
    for (const [folder, identity] of there)
      if (identity !== undefined && !this.#watched.has(folder))
        this.#watched.set(folder, { watcher: this.#open(folder), identity });
    const [wasGone, isGone] = [this.#isGone, below === null];
    this.#isGone = isGone;
    // It may have come back before there was a watch.
    if (isGone && !this.#watched.has(nearest(this.#root))) this.#noteChange();
    if (isGone) return wasGone ? undefined : "gone";
    return wasGone ? "back" : "changed";
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const folder of this.#watched.keys()) this.#drop(folder);
  }

  #open(folder: string): FSWatcher | undefined {
    try {
      const watcher = watch(folder, (_event, name) => {
        if (name === null || this.#isOurs(folder, name)) this.#noteChange();
      });
      return watcher.on("error", () => this.#drop(folder));
    } catch (error) {
      if (this.#around.has(folder)) return undefined;
      throw error;
    }
  }

  /** Beside workflow folders lie files that have nothing to do with them, such as what this process prints into. */
  #isOurs(folder: string, name: string): boolean {
    const step = this.#around.get(folder);
    if (step !== undefined) return name === step;
    if (passedOver.test(name)) return false;
    if (folder !== this.#root || isWorkflowFolder(this.#root)) return true;
    return !statSync(join(folder, name), { throwIfNoEntry: false })?.isFile();
  }

  #drop(folder: string): void {
    this.#watched.get(folder)?.watcher?.close();
    this.#watched.delete(folder);
  }

  #noteChange(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      const news = await this.look();
      if (news !== undefined) this.#onNews(news);
    }, settledMs);
  }
}

/** Null where the root is no folder. */
async function foldersBelow(root: string): Promise<string[] | null> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => null);
  if (entries === null) return null;
  const below = entries.filter((entry) => entry.isDirectory() && !passedOver.test(entry.name));
  const nested = await Promise.all(below.map(({ name }) => foldersBelow(join(root, name))));
  return [root, ...nested.flatMap((folders) => folders ?? [])];
}

function stepsTo(folder: string): Map<string, string> {
  const above = dirname(folder);
  return above === folder ? new Map() : new Map([...stepsTo(above), [above, basename(folder)]]);
}

/** The folder itself, or the first one above that is there. */
function nearest(folder: string): string {
  return existsSync(folder) ? folder : nearest(dirname(folder));
}

function identityOf(folder: string): string | undefined {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat && `${stat.dev} ${stat.ino} ${stat.birthtimeMs}`;
}
