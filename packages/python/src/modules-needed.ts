import { bringsModules, importWayOut, moduleOf, neededImports, topOf } from "./findings/imports.ts";
import { isSlip } from "./findings/suggest.ts";
import { importableModules, isKnownPackage, standardModules } from "./known/packages.ts";
import { type LineColumn, Lines } from "./lines.ts";
import { Program } from "./scope/program.ts";

/** A module that code imports and cannot do without. */
interface NeededModule extends LineColumn {
  module: string;
}

/**
 * Each module that is `wanted`, where it is first imported in earnest: neither within `try: ... except ImportError` nor for
 * types only.
 */
export function modulesNeeded(source: string, wanted: (module: string) => boolean): NeededModule[] {
  const program = /\bimport\b/.test(source) ? Program.read(source) : null;
  if (!program) return [];
  const lines = new Lines(source);
  const found = new Map<string, NeededModule>();
  for (const { path, at } of neededImports(program)) {
    const [module, place] = [topOf(path), lines.placeOf(at)];
    if (module === "" || found.has(module) || !wanted(module) || lines.isSilenced(place.line, "PY140")) continue;
    found.set(module, { module, ...place });
  }
  return Array.from(found.values());
}

/** What a workflow's code may import besides Python's own modules. */
export interface Importable {
  /** Lines for pip: those of the template, and of the workflow. */
  requirements: readonly string[];
  /** Modules of `lib/`, with their source. */
  lib: Readonly<Record<string, string>>;
}

/**
 * Finds the modules that code needs and nothing provides. Where a package is not known by its modules, only slips of the
 * pen are found; where `lib/` makes modules importable itself, none.
 */
export function foreignModules({
  requirements,
  lib,
}: Importable): (source: string) => (NeededModule & { wayOut: string })[] {
  if (Object.values(lib).some((source) => bringsModules.test(source))) return () => [];
  const known = new Set([...importableModules(requirements), ...Object.keys(lib).map(moduleOf)]);
  const isClosed = requirements.every(isKnownPackage);
  const names = [...known, ...standardModules];
  const isForeign = (module: string) =>
    !known.has(module) && !standardModules.has(module) && (isClosed || names.some((one) => isSlip(module, one)));
  return (source) =>
    modulesNeeded(source, isForeign).map((one) => ({ ...one, wayOut: importWayOut(one.module, known) }));
}
