import type { Change } from "../flow/changes.ts";
import { knownEntries } from "../flow/paths.ts";
import { standardModules } from "../known/packages.ts";
import type { Program } from "../scope/program.ts";
import type { Expression, Node, Statement } from "../tree/nodes.ts";
import type { Problem, Subject } from "./subject.ts";
import { findNearest } from "./suggest.ts";

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

/** Finds PY121: a result that is lost because it is printed without json.dumps. */
export function findLostResult({ program, changes, printed, isAnalysis, facts }: Subject): Problem[] {
  if (isAnalysis || printed.mayPrint || (facts.nodeType !== "decision" && changes.length === 0)) return [];
  const lost = printedByHand(program);
  return lost ? [{ code: "PY121", at: lost.from, message: `a result is lost: ${notByDumps}` }] : [];
}

/** Finds the last call that prints a result without json.dumps: a dict with `context_updates`, or its text. */
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

/**
 * Returns whether a printed expression looks like a result: a dict with `context_updates`, or the text of such a dict.
 */
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

/**
 * Returns whether the code calls a function of another module and ignores its return value. Such a function may print
 * the result.
 */
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

const key = "branch_decision";

/**
 * Finds PY130: a decision whose code never sets `branch_decision`. Whether the value matches an edge is only known at
 * run time.
 */
export function findUndecided(subject: Subject): Problem[] {
  const { facts, program, isAnalysis } = subject;
  if (facts.nodeType !== "decision" || isAnalysis) return [];
  if (mayDecide(subject)) return [];
  return [{ code: "PY130", at: program.tree.statements.at(-1)?.from ?? 0, message: neverDecides(subject) }];
}

/** Returns whether the code may set `branch_decision`: by a change, a printed result, or a call for its side effect. */
export function mayDecide(subject: Subject): boolean {
  // A printed result may contain the decision, unless all keys of the result are known and the decision's key is not
  // among them.
  const mayPrintDecision = printedKeys(subject)?.includes(key) !== false;
  return mayPrintDecision || subject.changes.some(maySetDecision) || mayActElsewhere(subject.program);
}

function maySetDecision({ kind, path, key: known }: Change): boolean {
  if (kind === "delete" || (!path && known !== undefined && known !== key)) return false;
  return !path || path.length === 0 || (kind === "set" && path.length === 1 && path[0] === key);
}

function neverDecides({ facts, changes }: Subject): string {
  const set = changes.flatMap(({ kind, path }) => (kind === "set" && path?.length === 1 ? [path[0] as string] : []));
  const slip = findNearest(key, set);
  if (slip !== undefined) return `the decision never decides: it sets context["${slip}"] - write context["${key}"]`;
  const edges = facts.edges?.length
    ? `one of ${facts.edges.map((edge) => JSON.stringify(edge)).join(", ")}`
    : "the condition of an edge";
  return `the decision never decides - set context["${key}"] to ${edges}`;
}

/** Returns the keys that a printed result may set; undefined if they are not all known. */
export function printedKeys({ printed, program, paths }: Subject): string[] | undefined {
  if (!printed.mayPrint) return [];
  return printed.values && joined(printed.values);

  function joined(values: readonly Expression[]): string[] | undefined {
    const all = values.map(keysOf);
    return all.every((keys) => keys !== undefined) ? all.flat() : undefined;
  }

  /** Returns the keys of the context that code sets by printing this value. Printing the context itself sets none. */
  function keysOf(value: Expression): string[] | undefined {
    if (paths.isContext(value)) return [];
    const entries = knownEntries(program, value);
    const updates = entries?.filter(({ key }) => key === "context_updates").map((entry) => entry.value) ?? [];
    return updates.length > 0 ? joined(updates) : entries?.map(({ key }) => key);
  }
}
