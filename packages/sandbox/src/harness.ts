import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Below root's home: the one place of a sandbox that ordinary users cannot even look into. */
export const root = "/root/.nova-sandbox";

/** The harness's sources in this package; a bundled Lambda carries a copy and says where. */
export const harnessFolder = fileURLToPath(new URL("../python/nova_harness", import.meta.url));

/**
 * The one cell there is, but for the input's name. `~` is root's home, wherever that is: without isolation a local
 * sandbox has it elsewhere. One harness serves a sandbox for all its life, whatever version later adapters have:
 * two of them would not see each other's claims.
 */
export function cell(input: string): string {
  return [
    "import os, sys",
    'root = os.path.expanduser("~/.nova-sandbox")',
    `root = root if os.path.isdir(root) else "${root}"`,
    'if f"{root}/harness" not in sys.path: sys.path.insert(0, f"{root}/harness")',
    "import nova_harness",
    `nova_harness.attach("${input}", root)`,
  ].join("\n");
}

export interface SandboxFile {
  path: string;
  data: string;
}

/** Everything a new sandbox gets: the harness, and the workflow's own modules. */
export async function sandboxFiles(folder: string, lib: Record<string, string>): Promise<SandboxFile[]> {
  const modules = Object.entries(lib).map(([name, data]) => ({ path: `${root}/lib/${libPath(name)}`, data }));
  return [...(await readHarness(folder)), ...modules];
}

async function readHarness(folder: string): Promise<SandboxFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".py"));
  return Promise.all(
    names.map(async (name) => ({
      path: `${root}/harness/${basename(folder)}/${name}`,
      data: await readFile(join(folder, name), "utf8"),
    })),
  );
}

/** `lib/tools.py` and `tools.py` are the module `tools`. */
function libPath(name: string): string {
  return name.replace(/^lib\//, "");
}
