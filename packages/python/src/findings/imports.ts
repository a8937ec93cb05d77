import { standardModules } from "../known/standard-modules.ts";
import { type Node, walk } from "../tree/nodes.ts";
import { expectsImportError } from "./guards.ts";
import type { Problem, Subject } from "./subject.ts";
import { nearest } from "./suggest.ts";

/** Code that may bring modules along itself. */
const bringsModules = /\b(sys\.path|sys\.modules|find_spec|addsitedir)\b|["' ]pip["' ,]+install\b/;

/** PY140 and PY141: imports that fail. */
export function failingImports({ facts, program }: Subject): Problem[] {
  const { modules, lib = [] } = facts;
  const known = new Set([...(modules ?? []), ...lib.map(moduleOf)]);
  return program.nodes.flatMap((node) => {
    if (node.kind !== "import" || !program.mayRun(node)) return [];
    if (expectsImportError(program, node) || isForTypesOnly(node) || bringsModules.test(program.source)) return [];
    const paths = node.module === null ? node.names : [{ path: node.module, from: node.from }];
    return paths.flatMap(({ path, from }): Problem[] => {
      if (path.startsWith(".")) return [relative(path, node, from)];
      const [top = ""] = path.split(".");
      if (modules === undefined || known.has(top) || standardModules.has(top)) return [];
      return [{ code: "PY140", at: from, message: notImportable(top, [...known]) }];
    });
  });
}

function notImportable(module: string, known: readonly string[]): string {
  const near = nearest(module, [...known, ...standardModules]);
  const hint = near === undefined || near.length < 4 ? "" : `, or did you mean "${near}"?`;
  return `the sandbox has no module "${module}" - add its package to "requirements" of the workflow${hint}`;
}

function relative(path: string, node: Node & { kind: "import" }, at: number): Problem {
  const name = path.replace(/^\.+/, "") || node.names[0]?.path || "module";
  const message = `a node's code is no package, so "${path}" leads nowhere - import ${name} of lib/ by its name`;
  return { code: "PY141", at, message };
}

/** `lib/mails.py`, `mails.py` and `mails` are the module `mails`. */
function moduleOf(path: string): string {
  const [top = ""] = path.replace(/^(\.\/)?lib\//, "").split("/");
  return top.replace(/\.pyi?$/, "");
}

/** `if TYPE_CHECKING:` never runs. */
function isForTypesOnly(node: Node): boolean {
  let child = node;
  for (let each = node.parent; each; each = each.parent) {
    if (each.kind === "if") {
      const branch = each.branches.find(({ body }) => body === child);
      if (branch && Array.from(walk(branch.test)).some(isTypeChecking)) return true;
    }
    child = each;
  }
  return false;
}

function isTypeChecking(node: Node): boolean {
  return (
    (node.kind === "name" && node.id === "TYPE_CHECKING") ||
    (node.kind === "attribute" && node.name === "TYPE_CHECKING")
  );
}
