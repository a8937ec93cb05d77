import { bringsModules, importWayOut, listNeededImports, moduleOfFile, topModule } from "./findings/imports.ts";
import { isSlip } from "./findings/suggest.ts";
import { isKnownPackage, listImportableModules, standardModules } from "./known/packages.ts";
import { type LineColumn, Lines } from "./lines.ts";
import { Program } from "./scope/program.ts";

/** A module that the code imports and needs. */
interface NeededModule extends LineColumn {
  module: string;
}

/**
 * Finds the first import of each `wanted` module that the code needs. Imports for types only, and those in `try: ...
 * except ImportError`, do not count.
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

/** The modules that a workflow's code can import, in addition to Python's own. */
export interface Importable {
  /** Lines for pip, of the template and of the workflow. */
  requirements: readonly string[];
  /** Sources of the modules in `lib/`. */
  lib: Readonly<Record<string, string>>;
}

/**
 * Returns a function that finds the modules that code needs and nothing provides. If the modules of some package are
 * unknown, it reports only spelling mistakes. If `lib/` makes modules importable itself, it reports nothing.
 */
export function createModuleFinder({
  requirements,
  lib,
}: Importable): (source: string) => (NeededModule & { wayOut: string })[] {
  if (Object.values(lib).some((source) => bringsModules.test(source))) return () => [];
  const known = new Set([...listImportableModules(requirements), ...Object.keys(lib).map(moduleOfFile)]);
  const isClosed = requirements.every(isKnownPackage);
  const names = [...known, ...standardModules];
  const isForeign = (module: string) =>
    !known.has(module) && !standardModules.has(module) && (isClosed || names.some((one) => isSlip(module, one)));
  return (source) =>
    findNeededModules(source, isForeign).map((one) => ({ ...one, wayOut: importWayOut(one.module, known) }));
}
