import type { Diagnostic, Workspace } from "@astral-sh/ruff-wasm-nodejs";

/**
 * Misplaced statements (`F70`) and undefined names (`F821` to `F823`). `F722` is left out, because an annotation may be
 * any text.
 */
const rules = ["F70", "F821", "F822", "F823"];

/**
 * Ruff accepts the syntax of this Python. It is newer than the oldest Python of a sandbox, so that no syntax that a
 * sandbox knows is reported.
 */
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
  // The package is CommonJS, of which a bundle that is split into files sees only the default export.
  const { Workspace, PositionEncoding } = (await import("@astral-sh/ruff-wasm-nodejs")).default;
  const settings = { "target-version": newestPython, builtins, lint: { select: rules } };
  return new Workspace(settings, PositionEncoding.Utf16);
}
