import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Facts about the machine's Python that the first cloud of this process found. Asking Python takes a third of a second.
 */
let known: Buffer | undefined;

/** Writes the known facts about Python into a new data folder. */
export function lendPython(dataDir: string): void {
  const file = join(dataDir, "python.json");
  if (known === undefined || existsSync(file)) return;
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(file, known);
}

/** Remembers the facts that the cloud of this data folder found. */
export function keepPython(dataDir: string): void {
  const file = join(dataDir, "python.json");
  if (known === undefined && existsSync(file)) known = readFileSync(file);
}
