import type { Origin } from "../scope/bindings.ts";
import type { Program } from "../scope/program.ts";
import type { Expression } from "../tree/nodes.ts";

const deepest = 12;

/** What was found before, and undefined for what hangs on itself. */
const roots = new WeakMap<Program, Map<Expression, string | undefined>>();

/**
 * The function or class of a module that a value first came from: `psycopg.connect` for `cursor` in
 * `cursor = psycopg.connect(...).cursor()`. `literal` for values that the code spells out; undefined where nobody knows.
 */
export function rootOf(program: Program, expression: Expression, depth = 0): string | undefined {
  const known = roots.get(program) ?? new Map<Expression, string | undefined>();
  roots.set(program, known);
  if (depth > deepest || known.has(expression)) return known.get(expression);
  known.set(expression, undefined);
  const root = findRoot(program, expression, depth);
  known.set(expression, root);
  return root;
}

function findRoot(program: Program, expression: Expression, depth: number): string | undefined {
  const path = program.importPath(expression);
  if (path !== undefined) return path;
  switch (expression.kind) {
    case "name":
      return rootOfName(program, expression, depth);
    case "attribute":
    case "subscript":
      return rootOf(program, expression.object, depth + 1);
    case "call":
      return rootOf(program, expression.callee, depth + 1);
    case "await":
    case "walrus":
      return rootOf(program, expression.value, depth + 1);
    case "text":
    case "format":
    case "bytes":
    case "number":
    case "list":
    case "dict":
    case "set":
    case "tuple":
    case "comprehension":
      return "literal";
    default:
      return undefined;
  }
}

function rootOfName(program: Program, name: Expression & { kind: "name" }, depth: number): string | undefined {
  const roots = new Set(program.reaching(name).map(({ origin }) => rootOfOrigin(program, origin, depth + 1)));
  const [root] = roots;
  return roots.size === 1 ? root : undefined;
}

function rootOfOrigin(program: Program, origin: Origin, depth: number): string | undefined {
  if (origin.kind === "value" || origin.kind === "with") return rootOf(program, origin.value, depth);
  if (origin.kind === "item" || origin.kind === "part") return rootOf(program, origin.of, depth);
  return origin.kind === "handler" ? "builtins.Exception" : undefined;
}
