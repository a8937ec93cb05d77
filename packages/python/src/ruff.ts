import type { Diagnostic, Workspace } from "@astral-sh/ruff-wasm-nodejs";

/** `F82`: undefined names. `F70`: misplaced statements. `F722` is left out: an annotation may be any text. */
const rules = ["F70", "F821", "F822", "F823"];

/** Newer than the oldest Python of a sandbox, because syntax that the sandbox knows must pass. */
const newestPython = "py313";

const workspaces = new Map<string, Promise<Workspace>>();

/** Runs ruff on a source. The first call loads the WebAssembly (10 MB, 60 ms). */
export async function runRuff(source: string, builtins: readonly string[]): Promise<Diagnostic[]> {
  const key = builtins.join();
  const workspace = workspaces.get(key) ?? newWorkspace(builtins);
  workspaces.set(key, workspace);
  return (await workspace).check(source);
}

async function newWorkspace(builtins: readonly string[]): Promise<Workspace> {
  // This package is CommonJS: a split bundle sees only its default export.
  const { Workspace, PositionEncoding } = (await import("@astral-sh/ruff-wasm-nodejs")).default;
  const settings = { "target-version": newestPython, builtins, lint: { select: rules } };
  return new Workspace(settings, PositionEncoding.Utf16);
}
