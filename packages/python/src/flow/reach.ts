import { copyMethods, partMethods, passes, pureMethods } from "../known/functions.ts";
import type { Origin } from "../scope/bindings.ts";
import type { Call, Callable, Program } from "../scope/program.ts";
import { type ContextShape, isScalar, shapeAt } from "../shape.ts";
import { type Expression, type Node, walk } from "../tree/nodes.ts";
import { argumentsFor } from "./arguments.ts";
import type { Paths } from "./paths.ts";

/** Questions after which everything is taken for near: code that is so entangled is not judged. */
const maxAsked = 20_000;

/** How near a value is to the context: has nothing of it, is new but holds parts of it, or may be (a part of) it. */
export const none = 0;
export const holds = 1;
export const is = 2;
type Nearness = 0 | 1 | 2;

/**
 * What changes of a value may change. In doubt a value is near: from here comes the certainty that code changes nothing.
 */
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
    if (++this.#asked > maxAsked) return is;
    if (this.#open.has(expression)) {
      this.#circles++;
      return none;
    }
    const circles = this.#circles;
    this.#open.add(expression);
    const path = this.#shape && this.#paths.of(expression);
    const isPlain = path && path.length > 0 && isScalar(shapeAt(this.#shape as ContextShape, path));
    const found = isPlain ? none : this.#find(expression);
    this.#open.delete(expression);
    // What hangs on itself is only known once all around it is.
    if (circles === this.#circles || this.#open.size === 0) this.#known.set(expression, found);
    return found;
  }

  any(expressions: Iterable<Expression>): Nearness {
    let most: Nearness = none;
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
        return this.#partOf(expression.object, expression.index.kind === "slice" ? holds : is);
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
        return /^[+*|]$/.test(expression.op) ? this.#held([expression.left, expression.right]) : none;
      case "walrus":
      case "star":
      case "await":
        return this.of(expression.value);
      default:
        return none;
    }
  }

  /** What comes out of a value. */
  #partOf(value: Expression, near: Nearness): Nearness {
    return this.of(value) === none ? none : near;
  }

  #held(parts: Iterable<Expression>): Nearness {
    return this.any(parts) === none ? none : holds;
  }

  #ofName(name: Expression & { kind: "name" }): Nearness {
    const near = this.#program.reaching(name).map(({ origin, name: id }) => this.#ofOrigin(origin, id));
    return Math.max(none, ...near, this.#held(this.#additions.get(name.id) ?? [])) as Nearness;
  }

  #ofOrigin(origin: Origin, name: string): Nearness {
    switch (origin.kind) {
      case "given":
        return name === "context" ? is : none;
      case "value":
      case "with":
        return this.of(origin.value);
      case "item":
      case "part":
        return this.#partOf(origin.of, is);
      case "match":
        return this.#partOf(origin.subject, is);
      case "param":
        return this.#ofParam(origin);
      default:
        return none;
    }
  }

  #ofParam(origin: Origin & { kind: "param" }): Nearness {
    const { values, all } = argumentsFor(this.#program, origin);
    const given = this.any(values);
    if (all || given === is) return given;
    return this.#isHandedOn(origin.holder) ? is : given;
  }

  /** Whether somebody who has parts of the context may call the function. */
  #isHandedOn(holder: Callable): boolean {
    if (holder.kind === "lambda" || holder.decorators.length > 0) return true;
    const isCalled = (use: Node) => use.parent?.kind === "call" && use.parent.callee === use;
    return this.#program.loadsOf(holder.id).some((use) => !isCalled(use));
  }

  #ofCall({ callee, args }: Call): Nearness {
    const values = args.map(({ value }) => value);
    const path = this.#program.importPath(callee);
    if (path !== undefined) {
      const how = passes(path);
      if (how === "nothing") return none;
      if (how === "parts in something new") return this.#held(values);
      if (!this.#program.functionOf(callee)) return this.any(values) === none ? none : is;
    }
    const local = this.#program.functionOf(callee);
    if (local) return this.#answerOf(local);
    if (callee.kind === "attribute" && !pureMethods.has(callee.name)) {
      const own = this.of(callee.object);
      if (own !== none && partMethods.has(callee.name)) return this.#partOf(callee.object, is);
      if (own !== none && copyMethods.has(callee.name)) return this.#partOf(callee.object, holds);
      return own !== none || this.any(values) !== none ? is : none;
    }
    return callee.kind === "attribute" || this.any(values) === none ? none : is;
  }

  /** Of what a function of the code returns or yields. */
  #answerOf(local: Callable): Nearness {
    if (local.kind === "lambda") return this.of(local.body);
    let most: Nearness = none;
    for (const node of walk(local.body)) {
      const value = node.kind === "return" || node.kind === "yield" ? node.value : null;
      if (value) most = Math.max(most, node.kind === "yield" ? this.#held([value]) : this.of(value)) as Nearness;
    }
    return most;
  }
}

/** `self.rows = ...`, or in the body of a class: what attributes of a name may hold, whatever they belong to. */
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

/** `rows.append(x)`, `rows["a"] = x`: what comes into the value of a name later on. */
function addedValues({ nodes }: Program): Map<string, Expression[]> {
  const added = new Map<string, Expression[]>();
  const add = (object: Expression, values: Expression[]) => {
    if (object.kind === "name") added.set(object.id, [...(added.get(object.id) ?? []), ...values]);
  };
  for (const node of nodes) {
    if (node.kind === "call" && node.callee.kind === "attribute" && adding.test(node.callee.name)) {
      const values = node.args.map(({ value }) => value);
      add(rootOf(node.callee.object), values);
    }
    if (node.kind === "assign" && node.value) {
      for (const target of node.targets) if (target.kind === "subscript") add(rootOf(target), [node.value]);
    }
    if (node.kind === "augment" && node.target.kind !== "attribute") add(rootOf(node.target), [node.value]);
  }
  return added;
}

function rootOf(expression: Expression): Expression {
  if (expression.kind === "subscript" || expression.kind === "attribute") return rootOf(expression.object);
  if (expression.kind === "call" && expression.callee.kind === "attribute") return rootOf(expression.callee.object);
  return expression;
}
