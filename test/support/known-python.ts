import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Facts about the machine's Python, as the first cloud of this process stored them. Finding them takes a third of a
 * second, which later clouds save.
 */
let known: Buffer | undefined;

/** Writes the facts into a new data folder, if they are known. */
export function lendPython(dataDir: string): void {
  const file = join(dataDir, "python.json");
  if (known === undefined || existsSync(file)) return;
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(file, known);
}

/** Reads the facts from the data folder of a cloud and remembers them for later clouds. */
export function keepPython(dataDir: string): void {
  const file = join(dataDir, "python.json");
  if (known === undefined && existsSync(file)) known = readFileSync(file);
}
