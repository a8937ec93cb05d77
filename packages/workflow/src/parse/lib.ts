import type { PythonSource } from "./source.ts";

const folder = "lib/";

/** The modules that every node can import: path below `lib/` -> source. */
export function libOf(files: Record<string, string>): Record<string, string> {
  const modules = Object.entries(files).filter(([path]) => path.startsWith(folder) && path.endsWith(".py"));
  return Object.fromEntries(modules.map(([path, source]) => [path.slice(folder.length), source]));
}

export function pythonOfLib(lib: Record<string, string>): PythonSource[] {
  return Object.entries(lib).map(([path, code]) => ({ code, file: folder + path, path: "$" }));
}
