import { standardModules } from "../known/packages.ts";
import type { Program } from "../scope/program.ts";
import { ancestorPairs, type ImportStatement, type Node } from "../tree/nodes.ts";
import { expectsImportError, namesIn } from "./guards.ts";
import type { Problem, Subject } from "./subject.ts";
import { findNearest } from "./suggest.ts";

/** Code that may install modules or change the search path. */
export const bringsModules = /\b(sys\.path|sys\.modules|find_spec|addsitedir)\b|["' ]pip["' ,]+install\b/;

/** PY140 and PY141: imports that fail. */
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

/** Imports that the code needs: it does not expect their failure, and does not install modules itself. */
export function listNeededImports(program: Program): { path: string; at: number; node: ImportStatement }[] {
  if (bringsModules.test(program.source)) return [];
  return program.nodes.flatMap((node) => {
    if (node.kind !== "import" || !program.mayRun(node)) return [];
    if (expectsImportError(program, node) || isForTypesOnly(node)) return [];
    const paths = node.module === null ? node.names : [{ path: node.module, from: node.from }];
    return paths.map(({ path, from }) => ({ path, at: from, node }));
  });
}

/** Says what to do about a module that nothing known provides. */
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

/** `lib/mails.py`, `mails.py` and `mails` are all the module `mails`. */
export function moduleOfFile(path: string): string {
  const [top = ""] = path.replace(/^(\.\/)?lib\//, "").split("/");
  return top.replace(/\.pyi?$/, "");
}

/** `if TYPE_CHECKING:` never runs. */
function isForTypesOnly(node: Node): boolean {
  return Array.from(ancestorPairs(node)).some(([ancestor, child]) => {
    const branch = ancestor.kind === "if" ? ancestor.branches.find(({ body }) => body === child) : undefined;
    return branch && namesIn(branch.test).includes("TYPE_CHECKING");
  });
}
