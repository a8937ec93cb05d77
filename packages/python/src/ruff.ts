import type { Diagnostic, Workspace } from "@astral-sh/ruff-wasm-nodejs";

/**
 * `F82`: names that nothing defines; `F70`: statements where Python allows none, such as `return` outside of a function.
 * Not `F722`: an annotation may be any text.
 */
const rules = ["F70", "F821", "F822", "F823"];

/** Newer than the oldest Python a sandbox may have: code must not be refused for syntax that the sandbox knows. */
const newestPython = "py313";

const workspaces = new Map<string, Promise<Workspace>>();

/** Ruff's findings in a source. The WebAssembly (10 MB, 60 ms) is loaded at the first call. */
export async function runRuff(source: string, builtins: readonly string[]): Promise<Diagnostic[]> {
  const key = builtins.join();
  const workspace = workspaces.get(key) ?? newWorkspace(builtins);
  workspaces.set(key, workspace);
  return (await workspace).check(source);
}

async function newWorkspace(builtins: readonly string[]): Promise<Workspace> {
  // CommonJS: in a bundle that is split, it has nothing but its default export.
  const { Workspace, PositionEncoding } = (await import("@astral-sh/ruff-wasm-nodejs")).default;
  const settings = { "target-version": newestPython, builtins, lint: { select: rules } };
  return new Workspace(settings, PositionEncoding.Utf16);
}
