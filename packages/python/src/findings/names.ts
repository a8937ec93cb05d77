import type { Diagnostic } from "@astral-sh/ruff-wasm-nodejs";
import type { Program } from "../scope/program.ts";
import type { ContextShape } from "../shape.ts";
import { ancestorPairs, ancestors, type Node } from "../tree/nodes.ts";
import type { CodeFinding } from "./subject.ts";
import { findNearest } from "./suggest.ts";

/** Translates ruff's finding about a name into a problem; undefined if it has no effect at run time. */
export function nameProblem(
  diagnostic: Diagnostic,
  program: Program | null,
  at: number,
  context: ContextShape | undefined,
): Pick<CodeFinding, "code" | "message"> | undefined {
  const name = undefinedName(diagnostic);
  if (diagnostic.code === "F822") return undefined;
  const message = nameMessage(diagnostic.code, name, context);
  if (diagnostic.code === "F823") return { code: "PY103", message };
  const isSafe =
    program && (isNeverLookedUp(program, at) || isMadeAtRunTime(program, name) || isDeletedLater(program, name));
  return { code: isSafe ? "PY104" : "PY102", message };
}

export function undefinedName({ message }: Diagnostic): string {
  return /`(.+?)`/.exec(message)?.[1] ?? "";
}

export function nameMessage(code: string | null, name: string, context?: ContextShape): string {
  if (code === "F823") return `the local name "${name}" is read before it is set - set it first, or declare it global`;
  if (code === "F822") return `__all__ lists the undefined name "${name}" - define it, or remove it from the list`;
  return `the name "${name}" is not defined - ${wayOut(name, context)}`;
}

function wayOut(name: string, context: ContextShape | undefined): string {
  const keys = Object.keys(context ?? {});
  if (keys.includes(name)) return `take it from the context: ${name} = context["${name}"]`;
  const near = findNearest(name, keys);
  if (near !== undefined) return `import it or set it before, or did you mean context["${near}"]?`;
  return `import it, set it before, or read it from context["${name}"]`;
}

/**
 * Returns whether the code binds the name at the top level and deletes it later. For such a name, ruff reports even the
 * uses before the deletion.
 */
function isDeletedLater(program: Program, name: string): boolean {
  return program.lookup(name, program.tree).length > 0;
}

/** Returns whether the name is in an annotation that Python does not evaluate. */
function isNeverLookedUp(program: Program, at: number): boolean {
  const node = innermost(program.tree, at);
  if (node.kind === "text") return true;
  for (const [ancestor, child] of ancestorPairs(node)) {
    const isAnnotation =
      ((ancestor.kind === "param" || ancestor.kind === "assign") && ancestor.annotation === child) ||
      (ancestor.kind === "function" && ancestor.returns === child);
    if (isAnnotation) return /^from __future__ import .*\bannotations\b/m.test(program.source) || isLocal(ancestor);
  }
  return false;
}

/** Returns whether this syntax node annotates a local name of a function. Python does not evaluate such annotations. */
function isLocal(node: Node): boolean {
  if (node.kind !== "assign" || node.targets.some(({ kind }) => kind !== "name")) return false;
  for (const { kind } of ancestors(node)) {
    if (kind === "class") return false;
    if (kind === "function") return true;
  }
  return false;
}

function innermost(tree: Node, at: number): Node {
  const child = tree.children.find(({ from, to }) => from <= at && at < to);
  return child ? innermost(child, at) : tree;
}

const makers =
  /\b(exec\(|globals\(\)\s*(\[|\.update|\.setdefault)|locals\(\)\s*(\[|\.update)|vars\(\)\s*(\[|\.update)|import (builtins|__main__)|__builtins__|sys\.modules|f_globals)/;

function isMadeAtRunTime({ source, nodes }: Program, name: string): boolean {
  if (makers.test(source)) return true;
  return (
    /\b(globals|locals|vars|dir)\b/.test(source) && nodes.some((node) => node.kind === "text" && node.value === name)
  );
}
