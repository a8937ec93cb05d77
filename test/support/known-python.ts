import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What the first cloud of this process found out about the machine's Python; it is asked for a third of a second. */
let known: Buffer | undefined;

/** Tells a data folder that is new. */
export function lendPython(dataDir: string): void {
  const file = join(dataDir, "python.json");
  if (known === undefined || existsSync(file)) return;
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(file, known);
}

/** Keeps what a cloud of this data folder has noted. */
export function keepPython(dataDir: string): void {
  const file = join(dataDir, "python.json");
  if (known === undefined && existsSync(file)) known = readFileSync(file);
}
