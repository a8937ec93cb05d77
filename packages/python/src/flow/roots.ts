import type { Origin } from "../scope/bindings.ts";
import { once } from "../scope/once.ts";
import type { Program } from "../scope/program.ts";
import type { Expression } from "../tree/nodes.ts";

const deepest = 12;

const roots = new WeakMap<Program, (expression: Expression) => string | undefined>();

/**
 * The imported function or class that a value stems from: `psycopg.connect` for `cursor` in `cursor =
 * psycopg.connect(...).cursor()`. `literal` for a literal value; undefined if unknown.
 */
export function rootOf(program: Program, expression: Expression): string | undefined {
  const find = roots.get(program) ?? once((one: Expression) => findRoot(program, one), deepest);
  roots.set(program, find);
  return find(expression);
}

const literals = /^(text|format|bytes|number|list|dict|set|tuple|comprehension)$/;

function findRoot(program: Program, expression: Expression): string | undefined {
  const path = program.importPath(expression);
  if (path !== undefined) return path;
  if (literals.test(expression.kind)) return "literal";
  switch (expression.kind) {
    case "name":
      return rootOfName(program, expression);
    case "attribute":
    case "subscript":
      return rootOf(program, expression.object);
    case "call":
      return rootOf(program, expression.callee);
    case "await":
    case "walrus":
      return rootOf(program, expression.value);
    default:
      return undefined;
  }
}

function rootOfName(program: Program, name: Expression & { kind: "name" }): string | undefined {
  const roots = new Set(program.reaching(name).map(({ origin }) => rootOfOrigin(program, origin)));
  const [root] = roots;
  return roots.size === 1 ? root : undefined;
}

function rootOfOrigin(program: Program, origin: Origin): string | undefined {
  if (origin.kind === "value" || origin.kind === "with") return rootOf(program, origin.value);
  if (origin.kind === "item" || origin.kind === "part") return rootOf(program, origin.of);
  return origin.kind === "handler" ? "builtins.Exception" : undefined;
}
