import { copyMethods, partMethods, pureMethods, resultDependence } from "../known/functions.ts";
import type { Call, Callable, Program } from "../scope/program.ts";
import type { Origin } from "../scope/scopes.ts";
import { type ContextShape, isScalar, shapeAt } from "../shape.ts";
import { type Expression, type Node, walk } from "../tree/nodes.ts";
import { argumentsFor, type Paths } from "./paths.ts";

/** After this many questions, every value counts as near, so code that is too entangled gets no findings. */
const maxAsked = 20_000;

/** A value holds nothing of the context, is new but holds parts of it, or may be (a part of) it. */
export const unrelated = 0;
export const holdsPart = 1;
export const maybePart = 2;
type Nearness = 0 | 1 | 2;

/** Tells whether a change of a value may change the context. In doubt it may: findings of missing changes need that. */
export class Reach {
  readonly #program: Program;
  readonly #paths: Paths;
  readonly #shape: ContextShape | undefined;
  readonly #known = new Map<Node, Nearness>();
  readonly #open = new Set<Node>();
  #circles = 0;
  #asked = 0;
  readonly #attributes: ReadonlyMap<string, Expression[]>;
  readonly #additions: ReadonlyMap<string, Expression[]>;

  constructor(program: Program, paths: Paths, shape: ContextShape | undefined) {
    this.#program = program;
    this.#paths = paths;
    this.#shape = shape;
    this.#attributes = storedAttributes(program);
    this.#additions = addedValues(program);
  }

  of(expression: Expression): Nearness {
    const known = this.#known.get(expression);
    if (known !== undefined) return known;
    if (++this.#asked > maxAsked) return maybePart;
    if (this.#open.has(expression)) {
      this.#circles++;
      return unrelated;
    }
    const circles = this.#circles;
    this.#open.add(expression);
    const path = this.#shape && this.#paths.of(expression);
    const isPlain = path && path.length > 0 && isScalar(shapeAt(this.#shape as ContextShape, path));
    const found = isPlain ? unrelated : this.#find(expression);
    this.#open.delete(expression);
    // A value that depends on itself is only known when everything around it is.
    if (circles === this.#circles || this.#open.size === 0) this.#known.set(expression, found);
    return found;
  }

  any(expressions: Iterable<Expression>): Nearness {
    let most: Nearness = unrelated;
    for (const expression of expressions) most = Math.max(most, this.of(expression)) as Nearness;
    return most;
  }

  #find(expression: Expression): Nearness {
    switch (expression.kind) {
      case "name":
        return this.#ofName(expression);
      case "attribute":
        return this.any([expression.object, ...(this.#attributes.get(expression.name) ?? [])]);
      case "subscript":
        return this.#partOf(expression.object, expression.index.kind === "slice" ? holdsPart : maybePart);
      case "call":
        return this.#ofCall(expression);
      case "list":
      case "tuple":
      case "set":
        return this.#held(expression.items);
      case "dict":
        return this.#held(expression.entries.map(({ value }) => value));
      case "comprehension":
        return this.#held([expression.element]);
      case "conditional":
        return this.any([expression.yes, expression.no]);
      case "binary":
        if (/^(and|or)$/.test(expression.op)) return this.any([expression.left, expression.right]);
        return /^[+*|]$/.test(expression.op) ? this.#held([expression.left, expression.right]) : unrelated;
      case "walrus":
      case "star":
      case "await":
        return this.of(expression.value);
      default:
        return unrelated;
    }
  }

  #partOf(value: Expression, near: Nearness): Nearness {
    return this.of(value) === unrelated ? unrelated : near;
  }

  #held(parts: Iterable<Expression>): Nearness {
    return this.any(parts) === unrelated ? unrelated : holdsPart;
  }

  #ofName(name: Expression & { kind: "name" }): Nearness {
    const near = this.#program.reaching(name).map(({ origin, name: id }) => this.#ofOrigin(origin, id));
    return Math.max(unrelated, ...near, this.#held(this.#additions.get(name.id) ?? [])) as Nearness;
  }

  #ofOrigin(origin: Origin, name: string): Nearness {
    switch (origin.kind) {
      case "provided":
        return name === "context" ? maybePart : unrelated;
      case "value":
      case "with":
        return this.of(origin.value);
      case "item":
      case "part":
        return this.#partOf(origin.of, maybePart);
      case "match":
        return this.#partOf(origin.subject, maybePart);
      case "param":
        return this.#ofParam(origin);
      default:
        return unrelated;
    }
  }

  #ofParam(origin: Origin & { kind: "param" }): Nearness {
    const { values, isComplete } = argumentsFor(this.#program, origin);
    const nearness = this.any(values);
    if (isComplete || nearness === maybePart) return nearness;
    return this.#isHandedOn(origin.holder) ? maybePart : nearness;
  }

  #isHandedOn(holder: Callable): boolean {
    if (holder.kind === "lambda" || holder.decorators.length > 0) return true;
    const isCalled = (use: Node) => use.parent?.kind === "call" && use.parent.callee === use;
    return this.#program.loadsOf(holder.id).some((use) => !isCalled(use));
  }

  #ofCall({ callee, args }: Call): Nearness {
    const values = args.map(({ value }) => value);
    const path = this.#program.importPath(callee);
    if (path !== undefined) {
      const how = resultDependence(path);
      if (how === "nothing") return unrelated;
      if (how === "parts in something new") return this.#held(values);
      if (!this.#program.functionOf(callee)) return this.any(values) === unrelated ? unrelated : maybePart;
    }
    const local = this.#program.functionOf(callee);
    if (local) return this.#answerOf(local);
    if (callee.kind === "attribute" && !pureMethods.has(callee.name)) {
      const own = this.of(callee.object);
      if (own !== unrelated && partMethods.has(callee.name)) return this.#partOf(callee.object, maybePart);
      if (own !== unrelated && copyMethods.has(callee.name)) return this.#partOf(callee.object, holdsPart);
      return own !== unrelated || this.any(values) !== unrelated ? maybePart : unrelated;
    }
    return callee.kind === "attribute" || this.any(values) === unrelated ? unrelated : maybePart;
  }

  #answerOf(local: Callable): Nearness {
    if (local.kind === "lambda") return this.of(local.body);
    let most: Nearness = unrelated;
    for (const node of walk(local.body)) {
      const value = node.kind === "return" || node.kind === "yield" ? node.value : null;
      if (value) most = Math.max(most, node.kind === "yield" ? this.#held([value]) : this.of(value)) as Nearness;
    }
    return most;
  }
}

/** Values that `self.rows = ...` or a class body may store in an attribute, by its name, of any object. */
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

/** Values that `rows.append(x)` or `rows["a"] = x` add to the value of a name. */
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
