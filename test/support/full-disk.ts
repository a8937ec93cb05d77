import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { StatementSync } from "node:sqlite";
import { onTestFinished, vi } from "vitest";

type Code = "ENOSPC" | "EROFS";

/** A simulated disk. While it is full, each write of a file by this process fails with the error of a full disk. */
export interface FullDisk {
  fill(): void;
  free(): void;
}

/**
 * Simulates a disk for files in `folder`. With `readOnly`, writes to the full disk fail as in a read-only folder. Reads
 * always succeed.
 */
export async function fullDisk(folder: string, { readOnly = false } = {}): Promise<FullDisk> {
  const code: Code = readOnly ? "EROFS" : "ENOSPC";
  let isFull = false;
  const refuse = (file: unknown) => {
    const isOurs = typeof file === "number" ? file > 2 : String(file).startsWith(folder);
    if (isFull && isOurs) throw Object.assign(new Error(`${code}: no write`), { code });
  };
  const replace = (owner: object, name: string, file: (args: unknown[]) => unknown) => {
    const real = Reflect.get(owner, name) as (...args: unknown[]) => unknown;
    return vi.spyOn(owner as Record<string, typeof real>, name).mockImplementation(function (this: unknown, ...args) {
      refuse(file(args));
      return real.apply(this, args);
    });
  };
  const ofFirst = ([file]: unknown[]) => file;
  const spies = [
    ...["writeFileSync", "appendFileSync"].map((name) => replace(fs, name, ofFirst)),
    replace(fs.promises, "writeFile", ofFirst),
    replace(await fileHandles(), "write", () => 3),
    ...(readOnly ? [replace(fs, "accessSync", ofFirst)] : [sqliteRefusing(() => isFull)]),
  ];
  syncBuiltinESMExports();
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  });
  return {
    fill() {
      isFull = true;
    },
    free() {
      isFull = false;
    },
  };
}

/** Returns the prototype that all open file handles share. */
async function fileHandles(): Promise<object> {
  await using handle = await fs.promises.open("/dev/null");
  return Object.getPrototypeOf(handle);
}

/**
 * Makes SQLite fail while the disk is full, with SQLite's own message. The error has no error code of the file system.
 */
function sqliteRefusing(isFull: () => boolean) {
  const { run } = StatementSync.prototype;
  return vi.spyOn(StatementSync.prototype, "run").mockImplementation(function (this: StatementSync, ...args) {
    if (isFull()) throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
    return run.apply(this, args as never);
  });
}
