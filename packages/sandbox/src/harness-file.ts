import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { root, type SandboxFile } from "./harness.ts";

/** The harness's sources. A bundler copies them to the same place relative to the bundle. */
const folder = fileURLToPath(new URL("../python/nova_harness", import.meta.url));

/** Combines the harness into one Python file (python/bundle.py), because one upload is faster than thirty. */
export async function harnessFile(): Promise<SandboxFile> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".py")).toSorted();
  const read = async (name: string) => [`${basename(folder)}/${name}`, await readFile(join(folder, name), "utf8")];
  const [bundle, ...sources] = await Promise.all([readFile(join(folder, "../bundle.py"), "utf8"), ...names.map(read)]);
  // A JSON string is also a Python string if it has no character beyond the basic plane.
  const call = `offer(${JSON.stringify(Object.fromEntries(sources as string[][]))}, ${JSON.stringify(root)})`;
  return { path: `${root}/harness.py`, data: `${bundle}\n\n${call}\n` };
}

/** The folder that this module reads. A bundler copies it from `from`, in this package, to `to`, relative to the bundle. */
export const carried = { readBy: "src/harness-file.ts", from: "python", to: "../python" };
