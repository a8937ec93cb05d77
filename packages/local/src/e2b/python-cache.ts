import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { writeWhole } from "../disk/whole-file.ts";

/** `executable` belongs to the base installation under `basePrefix`; a virtual environment only adds to `siteFolders`. */
export type Python = {
  path: string;
  version: string;
  missing: string[];
  executable: string;
  basePrefix: string;
  siteFolders: string[];
};

type Remembered = { key: string; python: Python; folders: [path: string, mtimeMs: number][] };

/**
 * Asking interpreters what they have takes a few tenths of a second at every start. The answer holds until one of them,
 * or a folder that packages come from, has changed.
 */
export async function rememberPython(
  file: string | undefined,
  asked: string[],
  candidates: string[],
  ask: () => Promise<Python>,
): Promise<Python> {
  if (!file) return ask();
  const facts = [...asked, ...candidates.map((path) => `${path} ${modified(path)}`)];
  const key = createHash("sha256").update(JSON.stringify(facts)).digest("hex");
  const known = read(file);
  if (known?.key === key && known.folders.every(([path, mtimeMs]) => modified(path) === mtimeMs)) return known.python;
  const python = await ask();
  const folders = [python.executable, ...python.siteFolders].map((path): [string, number] => [path, modified(path)]);
  remember(file, { key, python, folders });
  return python;
}

/** Where the folder takes no writes, it is asked again at the next start. */
function remember(file: string, remembered: Remembered): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeWhole(file, JSON.stringify(remembered));
  } catch {
    return;
  }
}

function modified(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function read(file: string): Remembered | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Remembered;
  } catch {
    return undefined; // there is none yet, or a start was cut off while writing it
  }
}
