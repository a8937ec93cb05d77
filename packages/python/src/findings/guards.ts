import type { Program } from "../scope/program.ts";
import { ancestorPairs, ancestors, type Expression, isWithin, type Node, walk } from "../tree/nodes.ts";

const keyErrors = /^(KeyError|LookupError|Exception|BaseException)$/;
const importErrors = /^(ImportError|ModuleNotFoundError|Exception|BaseException)$/;

/**
 * Returns whether a `try` or `suppress` catches a KeyError that this syntax node raises. It may surround the syntax
 * node, or the uses of the function that contains the syntax node.
 */
export function expectsKeyError(program: Program, node: Node): boolean {
  return isExpected(program, node, keyErrors, 0);
}

/**
 * Returns whether the code catches an ImportError that this syntax node raises, or whether the syntax node is the
 * substitute in `except ImportError`.
 */
export function expectsImportError(program: Program, node: Node): boolean {
  const replaces = (one: Node) => one.kind === "handler" && one.types !== null && names(one.types, importErrors);
  return Array.from(ancestors(node)).some(replaces) || isExpected(program, node, importErrors, 0);
}

const deepest = 4;

function isExpected(program: Program, node: Node, errors: RegExp, depth: number): boolean {
  for (const [ancestor, child] of ancestorPairs(node)) {
    const handlers = ancestor.kind === "try" && ancestor.body === child ? ancestor.handlers : [];
    if (handlers.some(({ types }) => !types || names(types, errors))) return true;
    if (ancestor.kind === "with" && ancestor.items.some(({ value }) => suppresses(value, errors))) return true;
    if (ancestor.kind === "function" && depth < deepest) {
      const uses = program.loadsOf(ancestor.id).filter((use) => !isWithin(use, ancestor));
      if (uses.some((use) => isExpected(program, use, errors, depth + 1))) return true;
    }
  }
  return false;
}

function suppresses(value: Expression, errors: RegExp): boolean {
  return value.kind === "call" && namesIn(value.callee).includes("suppress") && names(value, errors);
}

function names(value: Expression, wanted: RegExp): boolean {
  return namesIn(value).some((name) => wanted.test(name));
}

export function namesIn(expression: Expression): string[] {
  return Array.from(walk(expression)).flatMap((node) =>
    node.kind === "name" ? [node.id] : node.kind === "attribute" ? [node.name] : [],
  );
}

/** Returns whether the code can end successfully without executing this syntax node. */
export function mayBePassedBy(program: Program, node: Node, depth = 0): boolean {
  for (const [ancestor, child] of ancestorPairs(node)) {
    if (isBranch(ancestor, child)) return true;
    const earlier = ancestor.kind === "block" ? ancestor.statements.filter(({ from }) => from < child.from) : [];
    if (earlier.some(mayLeave)) return true;
    if (ancestor.kind === "lambda") return true;
    if (ancestor.kind === "function") return isCalledOnTheSide(program, ancestor, depth);
  }
  return false;
}

function isBranch(ancestor: Node, child: Node): boolean {
  // The test of the `if` itself always runs. Only the tests of its `elif` may be skipped.
  if (ancestor.kind === "if") return ancestor.branches[0]?.test !== child;
  if (ancestor.kind === "conditional" || ancestor.kind === "while") return ancestor.test !== child;
  if (ancestor.kind === "binary") return /^(and|or)$/.test(ancestor.op) && ancestor.right === child;
  return ancestor.kind === "match" ? ancestor.subject !== child : ancestor.kind === "handler";
}

/** Returns whether the code can end successfully without executing the rest of the block after this statement. */
function mayLeave(statement: Node): boolean {
  if (statement.kind !== "if") return false;
  return Array.from(walk(statement)).some(
    (node) => /^(return|continue|break)$/.test(node.kind) || (node.kind === "call" && endsRun(node.callee)),
  );
}

function endsRun(callee: Expression): boolean {
  if (callee.kind === "name") return /^(exit|quit|SystemExit)$/.test(callee.id);
  return callee.kind === "attribute" && callee.name === "exit";
}

function isCalledOnTheSide(program: Program, node: Node & { kind: "function" }, depth: number): boolean {
  if (depth > deepest || node.parent?.parent?.kind === "class") return true;
  const uses = program.loadsOf(node.id).filter((use) => !isWithin(use, node));
  return !uses.some(
    (use) => use.parent?.kind === "call" && use.parent.callee === use && !mayBePassedBy(program, use, depth + 1),
  );
}
