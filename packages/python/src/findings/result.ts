import { knownEntries } from "../flow/dicts.ts";
import { standardModules } from "../known/packages.ts";
import type { Program } from "../scope/program.ts";
import type { Expression, Node, Statement } from "../tree/nodes.ts";
import type { Problem, Subject } from "./subject.ts";

/** PY120: an action whose code has no result. */
export function findMissingResult({ program, changes, printed, isAnalysis, facts }: Subject): Problem[] {
  if (facts.nodeType === "decision" || printed.mayPrint || changes.length > 0) return [];
  if (isAnalysis && program.lookup("result", program.tree).length > 0) return [];
  if (mayActElsewhere(program) || alwaysFails(program.tree.statements)) return [];
  const lost = printedByHand(program);
  if (lost) return [{ code: "PY120", at: lost.from, message: `the code has no result: ${notByDumps}` }];
  const way = 'set what it found in context: context["result"] = ...';
  const message = `the code has no result: it neither changes the context nor prints one - ${way}`;
  return [{ code: "PY120", at: program.tree.statements.at(-1)?.from ?? 0, message }];
}

const notByDumps =
  "what it prints does not count, because json.dumps does not make it - write print(json.dumps({...}))";

/** PY121: a result that is printed without json.dumps, in addition to other results. */
export function findLostResult({ program, changes, printed, isAnalysis, facts }: Subject): Problem[] {
  if (isAnalysis || printed.mayPrint || (facts.nodeType !== "decision" && changes.length === 0)) return [];
  const lost = printedByHand(program);
  return lost ? [{ code: "PY121", at: lost.from, message: `a result is lost: ${notByDumps}` }] : [];
}

/** The last call that prints a dict or a text with `context_updates` that json.dumps did not make. */
function printedByHand(program: Program): Node | undefined {
  return program.nodes.findLast((node) => {
    if (node.kind !== "call" || !program.mayRun(node)) return false;
    const path = program.importPath(node.callee) ?? "";
    const [value, ...others] = node.args;
    if (!value || !/^(builtins\.print|pprint\.(pprint|pp)|sys\.(__)?stdout\.write)$/.test(path)) return false;
    return !others.some(({ name }) => name === null || name === "file") && isResult(program, value.value);
  });
}

const resultText = /^\s*\{[\s\S]*['"](context_updates['"]\s*:|status['"]\s*:\s*['"]error['"])/;
const deepest = 6;

/** Whether a printed expression looks like a result: a dict, or a text of one. */
function isResult(program: Program, value: Expression, depth = 0): boolean {
  if (depth > deepest) return false;
  const within = (inner: Expression) => isResult(program, inner, depth + 1);
  const entries = knownEntries(program, value);
  if (entries) return entries.some(({ key, value }) => key === "context_updates" || isErrorStatus(key, value));
  if (value.kind === "text") return resultText.test(value.value);
  if (value.kind === "format") return resultText.test(value.parts.join(""));
  if (value.kind === "binary") return within(value.left);
  if (value.kind === "name") {
    const values = program.reaching(value).map(({ origin }) => (origin.kind === "value" ? origin.value : undefined));
    return values.length > 0 && values.every((one) => one !== undefined && within(one));
  }
  if (value.kind !== "call") return false;
  const isShown = /^(builtins\.(str|repr)|pprint\.pformat)$/.test(program.importPath(value.callee) ?? "");
  if (isShown) return value.args[0] !== undefined && within(value.args[0].value);
  return value.callee.kind === "attribute" && value.callee.name === "format" && within(value.callee.object);
}

function isErrorStatus(key: string, value: Expression): boolean {
  return key === "status" && value.kind === "text" && value.value === "error";
}

/** Whether a function outside the code is called for its side effect: it may print the result. */
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

/** Whether the code exists only to fail the node. */
function alwaysFails(statements: readonly Statement[]): boolean {
  const last = statements.at(-1);
  if (!last) return false;
  if (last.kind === "raise") return true;
  return (
    last.kind === "expression" && last.value.kind === "call" && /^(exit|_exit)$/.test(calledName(last.value.callee))
  );
}

function calledName(callee: Expression): string {
  return callee.kind === "attribute" ? callee.name : callee.kind === "name" ? callee.id : "";
}
