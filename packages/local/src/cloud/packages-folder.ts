import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Belongs to this user alone, and is no part of any Python. */
function home(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "nova");
}

/** Where the packages lie that NOVA installed for a Python of this version (`3.12.1`). */
export function packagesFolder(version: string): string {
  return join(home(), `python${version.split(".", 2).join(".")}`);
}

/** Those of all versions, as far as they are there; a Python takes its own. */
export function packagesFolders(): string[] {
  try {
    const names = readdirSync(home()).filter((name) => /^python\d+\.\d+$/.test(name));
    return names.sort().map((name) => join(home(), name));
  } catch {
    return []; // nothing was ever installed
  }
}
