import { printError, styled } from "../output/terminal.ts";

/** Where they are, and for which Python. */
export interface Installed {
  folder: string;
  /** Path and version of the interpreter. */
  python: { path: string; version: string };
}

/** Installs what every sandbox promises and is missing here, for this user alone. Throws `PythonMissing`. */
export async function installPackages(): Promise<Installed> {
  const { ensurePython, packagesFolder } = await import("@nova/local");
  printError(styled("dim", "installing NOVA's Python packages, which takes about a minute the first time ..."));
  const { path, version } = await ensurePython();
  return { folder: packagesFolder(version), python: { path, version } };
}
