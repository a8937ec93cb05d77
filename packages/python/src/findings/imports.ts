import { isKnownPackage, listImportableModules, standardModules } from "../known/packages.ts";
import { type LineColumn, Lines } from "../lines.ts";
import { Program } from "../scope/program.ts";
import { ancestorPairs, type ImportStatement, type Node } from "../tree/nodes.ts";
import { expectsImportError, namesIn } from "./guards.ts";
import type { Problem, Subject } from "./subject.ts";
import { findNearest, isSlip } from "./suggest.ts";

/** Matches code that may install modules or change the search path, so that any import may succeed. */
export const bringsModules = /\b(sys\.path|sys\.modules|find_spec|addsitedir)\b|["' ]pip["' ,]+install\b/;

/** Finds PY140 and PY141: imports that will fail when the code runs. */
export function findFailingImports({ facts, program }: Subject): Problem[] {
  const { modules, lib = [] } = facts;
  const known = new Set([...(modules ?? []), ...lib.map(moduleOfFile)]);
  return listNeededImports(program).flatMap(({ path, at, node }): Problem[] => {
    if (path.startsWith(".")) return [relative(path, node, at)];
    const top = topModule(path);
    if (modules === undefined || known.has(top) || standardModules.has(top)) return [];
    return [{ code: "PY140", at, message: `the sandbox has no module "${top}" - ${importWayOut(top, known)}` }];
  });
}

/**
 * Lists the imports that must succeed. Leaves out an import whose failure the code catches. Returns an empty list if
 * the code may install modules itself.
 */
export function listNeededImports(program: Program): { path: string; at: number; node: ImportStatement }[] {
  if (bringsModules.test(program.source)) return [];
  return program.nodes.flatMap((node) => {
    if (node.kind !== "import" || !program.mayRun(node)) return [];
    if (expectsImportError(program, node) || isForTypesOnly(node)) return [];
    const paths = node.module === null ? node.names : [{ path: node.module, from: node.from }];
    return paths.map(({ path, from }) => ({ path, at: from, node }));
  });
}

/** Says what to do about a module that is not in the requirements, in `lib/` or in Python itself. */
export function importWayOut(module: string, known: Iterable<string>): string {
  const near = findNearest(module, [...known, ...standardModules]);
  const hint = near === undefined || near.length < 4 ? "" : `, or did you mean "${near}"?`;
  return `add its package to "requirements" of the workflow${hint}`;
}

export function topModule(path: string): string {
  return path.split(".")[0] ?? "";
}

function relative(path: string, node: ImportStatement, at: number): Problem {
  const name = path.replace(/^\.+/, "") || node.names[0]?.path || "module";
  const message = `a node's code is no package, so "${path}" leads nowhere - import ${name} of lib/ by its name`;
  return { code: "PY141", at, message };
}

/** Returns the name of a module from its path: `mails` for `lib/mails.py`, `mails.py` and `mails`. */
export function moduleOfFile(path: string): string {
  const [top = ""] = path.replace(/^(\.\/)?lib\//, "").split("/");
  return top.replace(/\.pyi?$/, "");
}

/** Returns whether a syntax node is under `if TYPE_CHECKING:`, where code never runs. */
function isForTypesOnly(node: Node): boolean {
  return Array.from(ancestorPairs(node)).some(([ancestor, child]) => {
    const branch = ancestor.kind === "if" ? ancestor.branches.find(({ body }) => body === child) : undefined;
    return branch && namesIn(branch.test).includes("TYPE_CHECKING");
  });
}

interface NeededModule extends LineColumn {
  module: string;
}

/**
 * Finds the first import of each `wanted` module that must succeed. Imports for types only, or with a handler for
 * ImportError, are skipped.
 */
export function findNeededModules(source: string, wanted: (module: string) => boolean): NeededModule[] {
  const program = /\bimport\b/.test(source) ? Program.read(source) : null;
  if (!program) return [];
  const lines = new Lines(source);
  const found = new Map<string, NeededModule>();
  for (const { path, at } of listNeededImports(program)) {
    const [module, place] = [topModule(path), lines.placeOf(at)];
    if (module === "" || found.has(module) || !wanted(module) || lines.isSilenced(place.line, "PY140")) continue;
    found.set(module, { module, ...place });
  }
  return Array.from(found.values());
}

export interface Importable {
  requirements: readonly string[];
  lib: Readonly<Record<string, string>>;
}

/**
 * Returns a function that finds imports of modules that nothing provides. If the modules of a requirement are unknown,
 * the function finds only misspelt modules.
 */
export function createModuleFinder({ requirements, lib }: Importable) {
  if (Object.values(lib).some((source) => bringsModules.test(source))) return () => [];
  const known = new Set([...listImportableModules(requirements), ...Object.keys(lib).map(moduleOfFile)]);
  const isClosed = requirements.every(isKnownPackage);
  const names = [...known, ...standardModules];
  const isForeign = (module: string) =>
    !known.has(module) && !standardModules.has(module) && (isClosed || names.some((one) => isSlip(module, one)));
  return (source: string) =>
    findNeededModules(source, isForeign).map((one) => ({ ...one, wayOut: importWayOut(one.module, known) }));
}
