import { standardModules } from "../known/packages.ts";
import type { Program } from "../scope/program.ts";
import type { Expression, Statement } from "../tree/nodes.ts";
import type { Problem, Subject } from "./subject.ts";

/** PY120: the code of an action says nothing to anybody. */
export function missingResult({ program, changes, printed, isAnalysis, facts }: Subject): Problem[] {
  if (facts.nodeType === "decision" || printed.mayPrint || changes.length > 0) return [];
  if (isAnalysis && program.lookup("result", program.tree).length > 0) return [];
  if (mayActElsewhere(program) || alwaysFails(program.tree.statements)) return [];
  const way = 'set what it found in context: context["result"] = ...';
  const message = `the code has no result: it neither changes the context nor prints one - ${way}`;
  return [{ code: "PY120", at: program.tree.statements.at(-1)?.from ?? 0, message }];
}

/** A call for its effect alone, of a function that nobody here can look into: it may print the result itself. */
export function mayActElsewhere(program: Program): boolean {
  return program.nodes.some((node) => {
    if (node.kind === "import" && node.names.some(({ path }) => path === "*") && isForeign(node.module ?? ""))
      return true;
    if (node.kind !== "expression" || !program.mayRun(node)) return false;
    const value = node.value.kind === "await" ? node.value.value : node.value;
    return value.kind === "call" && isForeign(program.importPath(calleeOf(value)) ?? "builtins");
  });
}

function calleeOf({ callee }: Expression & { kind: "call" }): Expression {
  return callee.kind === "attribute" && callee.object.kind === "call" ? calleeOf(callee.object) : callee;
}

const packages = /^(builtins|fitz|pymupdf|pandas|numpy|requests|PIL|psycopg|dateutil|urllib3|certifi)$/;

function isForeign(path: string): boolean {
  const [module = ""] = path.split(".");
  return !packages.test(module) && !standardModules.has(module);
}

/** Code that is there to fail the node. */
function alwaysFails(statements: readonly Statement[]): boolean {
  const last = statements.at(-1);
  if (!last) return false;
  if (last.kind === "raise") return true;
  return last.kind === "expression" && last.value.kind === "call" && /^(exit|_exit)$/.test(nameOf(last.value.callee));
}

function nameOf(callee: Expression): string {
  return callee.kind === "attribute" ? callee.name : callee.kind === "name" ? callee.id : "";
}
