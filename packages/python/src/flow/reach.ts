import { copyMethods, partMethods, pureMethods, resultDependence } from "../known/functions.ts";
import type { Call, Callable, Program } from "../scope/program.ts";
import type { Origin } from "../scope/scopes.ts";
import { type ContextShape, isScalar, shapeAt } from "../shape.ts";
import { type Expression, type Node, walk } from "../tree/nodes.ts";
import { argumentsFor, type Paths } from "./paths.ts";

/**
 * The largest number of values that are examined. After that, every value counts as `maybePart`, so that too complex
 * code gets no wrong findings.
 */
const maxAsked = 20_000;

/**
 * The relation of a value to the context. `unrelated`: the value contains no part of the context. `holdsPart`: it is a
 * new value that holds parts of the context. `maybePart`: it may be the context or a part of the context.
 */
export const unrelated = 0;
export const holdsPart = 1;
export const maybePart = 2;
type Nearness = 0 | 1 | 2;

/**
 * Returns a function that determines the relation of a value to the context. In doubt it returns `maybePart`, so that
 * the checks overlook no possible change.
 */
export function createReach(
  program: Program,
  paths: Paths,
  shape: ContextShape | undefined,
): (expression: Expression) => Nearness {
  const nearnesses = new Map<Node, Nearness>();
  const open = new Set<Node>();
  let circles = 0;
  let asked = 0;
  const attributes = storedAttributes(program);
  const additions = addedValues(program);
  return nearnessOf;

  function nearnessOf(expression: Expression): Nearness {
    const known = nearnesses.get(expression);
    if (known !== undefined) return known;
    if (++asked > maxAsked) return maybePart;
    if (open.has(expression)) {
      circles++;
      return unrelated;
    }
    const before = circles;
    open.add(expression);
    const path = shape && paths.of(expression);
    const isPlain = path && path.length > 0 && isScalar(shapeAt(shape as ContextShape, path));
    const found = isPlain ? unrelated : findNearness(expression);
    open.delete(expression);
    // Values may refer to each other in a circle. Inside a circle, a relation is preliminary, so only that of the
    // outermost value is stored.
    if (before === circles || open.size === 0) nearnesses.set(expression, found);
    return found;
  }

  function nearestOf(expressions: Iterable<Expression>): Nearness {
    let most: Nearness = unrelated;
    for (const expression of expressions) most = Math.max(most, nearnessOf(expression)) as Nearness;
    return most;
  }

  function findNearness(expression: Expression): Nearness {
    const { kind } = expression;
    if (kind === "name") return nearnessOfName(expression);
    if (kind === "attribute") return nearestOf([expression.object, ...(attributes.get(expression.name) ?? [])]);
    if (kind === "subscript")
      return nearnessOfPart(expression.object, expression.index.kind === "slice" ? holdsPart : maybePart);
    if (kind === "call") return nearnessOfCall(expression);
    if (kind === "list" || kind === "tuple" || kind === "set") return nearnessOfHolder(expression.items);
    if (kind === "dict") return nearnessOfHolder(expression.entries.map(({ value }) => value));
    if (kind === "comprehension") return nearnessOfHolder([expression.element]);
    if (kind === "conditional") return nearestOf([expression.yes, expression.no]);
    if (kind === "binary" && /^(and|or)$/.test(expression.op)) return nearestOf([expression.left, expression.right]);
    if (kind === "binary" && /^[+*|]$/.test(expression.op))
      return nearnessOfHolder([expression.left, expression.right]);
    return kind === "walrus" || kind === "star" || kind === "await" ? nearnessOf(expression.value) : unrelated;
  }

  function nearnessOfPart(value: Expression, near: Nearness): Nearness {
    return nearnessOf(value) === unrelated ? unrelated : near;
  }

  function nearnessOfHolder(parts: Iterable<Expression>): Nearness {
    return nearestOf(parts) === unrelated ? unrelated : holdsPart;
  }

  function nearnessOfName(name: Expression & { kind: "name" }): Nearness {
    const near = program.reaching(name).map(({ origin, name: id }) => nearnessOfOrigin(origin, id));
    return Math.max(unrelated, ...near, nearnessOfHolder(additions.get(name.id) ?? [])) as Nearness;
  }

  function nearnessOfOrigin(origin: Origin, name: string): Nearness {
    if (origin.kind === "provided") return name === "context" ? maybePart : unrelated;
    if (origin.kind === "value" || origin.kind === "with") return nearnessOf(origin.value);
    if (origin.kind === "item" || origin.kind === "part") return nearnessOfPart(origin.of, maybePart);
    if (origin.kind === "match") return nearnessOfPart(origin.subject, maybePart);
    return origin.kind === "param" ? nearnessOfParam(origin) : unrelated;
  }

  function nearnessOfParam(origin: Origin & { kind: "param" }): Nearness {
    const { values, isComplete } = argumentsFor(program, origin);
    const nearness = nearestOf(values);
    if (isComplete || nearness === maybePart) return nearness;
    return isHandedOn(origin.holder) ? maybePart : nearness;
  }

  function isHandedOn(holder: Callable): boolean {
    if (holder.kind === "lambda" || holder.decorators.length > 0) return true;
    const isCalled = (use: Node) => use.parent?.kind === "call" && use.parent.callee === use;
    return program.loadsOf(holder.id).some((use) => !isCalled(use));
  }

  function nearnessOfCall({ callee, args }: Call): Nearness {
    const values = args.map(({ value }) => value);
    const path = program.importPath(callee);
    if (path !== undefined) {
      const how = resultDependence(path);
      if (how === "nothing") return unrelated;
      if (how === "parts in something new") return nearnessOfHolder(values);
      if (!program.functionOf(callee)) return nearestOf(values) === unrelated ? unrelated : maybePart;
    }
    const local = program.functionOf(callee);
    if (local) return nearnessOfAnswer(local);
    if (callee.kind === "attribute" && !pureMethods.has(callee.name)) {
      const own = nearnessOf(callee.object);
      if (own !== unrelated && partMethods.has(callee.name)) return nearnessOfPart(callee.object, maybePart);
      if (own !== unrelated && copyMethods.has(callee.name)) return nearnessOfPart(callee.object, holdsPart);
      return own !== unrelated || nearestOf(values) !== unrelated ? maybePart : unrelated;
    }
    return callee.kind === "attribute" || nearestOf(values) === unrelated ? unrelated : maybePart;
  }

  function nearnessOfAnswer(local: Callable): Nearness {
    if (local.kind === "lambda") return nearnessOf(local.body);
    let most: Nearness = unrelated;
    for (const node of walk(local.body)) {
      const value = node.kind === "return" || node.kind === "yield" ? node.value : null;
      if (value)
        most = Math.max(most, node.kind === "yield" ? nearnessOfHolder([value]) : nearnessOf(value)) as Nearness;
    }
    return most;
  }
}

/**
 * Maps the name of each attribute to the values that `self.rows = ...` or a class body may store in it, in any object.
 */
function storedAttributes({ nodes }: Program): Map<string, Expression[]> {
  const stored = new Map<string, Expression[]>();
  for (const node of nodes) {
    if (node.kind !== "assign" || !node.value) continue;
    const isOfClass = node.parent?.parent?.kind === "class";
    for (const target of node.targets) {
      const name =
        target.kind === "attribute" ? target.name : isOfClass && target.kind === "name" ? target.id : undefined;
      if (name !== undefined) stored.set(name, [...(stored.get(name) ?? []), node.value]);
    }
  }
  return stored;
}

const adding = /^(append|extend|insert|add|update|setdefault|appendleft|put)$/;

/** Maps each name to the values that `rows.append(x)` or `rows["a"] = x` add to it. */
function addedValues({ nodes }: Program): Map<string, Expression[]> {
  const added = new Map<string, Expression[]>();
  const add = (object: Expression, values: Expression[]) => {
    if (object.kind === "name") added.set(object.id, [...(added.get(object.id) ?? []), ...values]);
  };
  for (const node of nodes) {
    if (node.kind === "call" && node.callee.kind === "attribute" && adding.test(node.callee.name)) {
      const values = node.args.map(({ value }) => value);
      add(baseObject(node.callee.object), values);
    }
    if (node.kind === "assign" && node.value) {
      for (const target of node.targets) if (target.kind === "subscript") add(baseObject(target), [node.value]);
    }
    if (node.kind === "augment" && node.target.kind !== "attribute") add(baseObject(node.target), [node.value]);
  }
  return added;
}

function baseObject(expression: Expression): Expression {
  if (expression.kind === "subscript" || expression.kind === "attribute") return baseObject(expression.object);
  if (expression.kind === "call" && expression.callee.kind === "attribute") return baseObject(expression.callee.object);
  return expression;
}
