import { argumentsFor, keyedBy } from "../flow/arguments.ts";
import type { Path } from "../flow/paths.ts";
import type { Read } from "../flow/reads.ts";
import { mayPrecede } from "../flow/reads.ts";
import type { Origin } from "../scope/bindings.ts";
import { shapeAt } from "../shape.ts";
import { ancestors, type Comprehension, type Expression, type Node, walk } from "../tree/nodes.ts";
import type { Subject } from "./subject.ts";

const deepest = 8;

/** Take all that they are given, whatever it is. */
const eager = /^builtins\.(sum|list|tuple|set|sorted|min|max|dict|frozenset)$/;
/** Take at least the first. */
const starting = /^builtins\.(any|all|next)$/;

/**
 * Whether a key is looked up in the first item of its lists, whatever the values are: all that is known of a list's items
 * is the first one. `mayBePassedBy` is asked besides.
 */
export function isReadOfFirst(subject: Subject, { node }: Read): boolean {
  const { parent } = node;
  const holder =
    parent?.kind === "subscript"
      ? parent.object
      : parent?.parent?.kind === "call" && parent.parent.callee.kind === "attribute" && parent.parent.callee.object;
  return holder ? new FirstItems(subject, node).isSure(holder) : false;
}

class FirstItems {
  readonly #subject: Subject;
  readonly #read: Node;
  #depth = 0;

  constructor(subject: Subject, read: Node) {
    this.#subject = subject;
    this.#read = read;
  }

  isSure(holder: Expression): boolean {
    return this.#isFirst(holder) && this.#isReached(this.#read);
  }

  /** Whether the expression goes through first items alone. */
  #isFirst(expression: Expression): boolean {
    if (this.#depth > deepest) return false;
    this.#depth++;
    const answer = this.#find(expression);
    this.#depth--;
    return answer;
  }

  #find(expression: Expression): boolean {
    switch (expression.kind) {
      case "name":
        return this.#subject.program
          .reaching(expression)
          .filter(({ origin }) => origin.kind !== "declared")
          .every(({ origin, node }) => this.#isFirstOrigin(origin, node));
      case "subscript":
        if (expression.index.kind === "text" || expression.index.kind === "name")
          return this.#isFirst(expression.object);
        return expression.index.kind === "number" && expression.index.text === "0" && this.#hasItems(expression.object);
      case "call":
        return expression.callee.kind === "attribute" && this.#isFirst(expression.callee.object);
      case "walrus":
        return this.#isFirst(expression.value);
      case "binary":
        return expression.op === "or" && this.#isFirst(expression.left);
      default:
        return false;
    }
  }

  #isFirstOrigin(origin: Origin, node: Node): boolean {
    switch (origin.kind) {
      case "given":
        return true;
      case "value":
        return this.#isFirst(origin.value);
      case "item":
        return this.#hasItems(origin.of) || this.#isOfAll(origin.of, node);
      case "part": {
        const [numbered] = origin.of.kind === "call" ? origin.of.args : [];
        return numbered !== undefined && this.#hasItems(numbered.value);
      }
      case "param":
        return this.#isFirstArgument(origin);
      default:
        return false;
    }
  }

  #isFirstArgument(origin: Origin & { kind: "param" }): boolean {
    const list = keyedBy(this.#subject.program, origin.holder);
    if (list) return this.#hasItems(list);
    const { all, values } = argumentsFor(this.#subject.program, origin);
    return all && values.length > 0 && values.every((value) => this.#isFirst(value));
  }

  /** A list that has items when the code begins, and loses none. */
  #hasItems(list: Expression): boolean {
    const { facts, paths, changes } = this.#subject;
    const path = paths.of(list);
    if (!path || !facts.context || !this.#isFirst(list)) return false;
    const shape = shapeAt(facts.context, path);
    const isCut = changes.some(
      (change) => change.kind !== "set" && isAbove(change.path, [...path, "[]"]) && mayPrecede(change.node, this.#read),
    );
    return shape?.type === "list" && (shape.size ?? 0) > 0 && !isCut;
  }

  /** `for row in sorted(rows)` comes to the first one too, where nothing ends it before. */
  #isOfAll(iterable: Expression, target: Node): boolean {
    if (iterable.kind !== "call") return false;
    const [list] = iterable.args;
    const isWhole = /^builtins\.(sorted|reversed|list|tuple)$/.test(
      this.#subject.program.importPath(iterable.callee) ?? "",
    );
    if (!isWhole || !list || list.stars > 0 || !this.#hasItems(list.value)) return false;
    const loop = Array.from(ancestors(target)).find(({ kind }) => kind === "for" || kind === "comprehension");
    if (loop?.kind === "for") return !leaves(loop.body, /^(break|return)$/);
    return loop?.kind === "comprehension" && (loop.form !== "generator" || this.#isTaken(loop, eager));
  }

  /** Whether nothing in the loops around it keeps code from coming here with their first items. */
  #isReached(node: Node): boolean {
    let child = node;
    for (const ancestor of ancestors(node)) {
      if (ancestor.kind === "try" && ancestor.body === child && ancestor.handlers.length > 0) return false;
      if (ancestor.kind === "for" && ancestor.body === child && !this.#runs(ancestor.iterable)) return false;
      if (ancestor.kind === "comprehension" && !this.#isReachedIn(ancestor, child)) return false;
      if (ancestor.kind === "block") {
        const before = ancestor.statements.filter((each) => each.from < child.from && each !== child);
        if (before.some((each) => leaves(each, /^(break|continue|return)$/))) return false;
      }
      child = ancestor;
    }
    return true;
  }

  #isReachedIn(comprehension: Comprehension, child: Node): boolean {
    const { form, key, element, loops } = comprehension;
    const [first, ...others] = loops;
    if (child === first?.iterable) return true;
    const plain = new Set<Node | null>([key, element, ...loops.flatMap(({ target, iterable }) => [target, iterable])]);
    const [condition] = comprehension.children.filter((each) => !plain.has(each));
    if (condition && condition !== child) return false;
    if (form === "generator" && !this.#isTaken(comprehension, eager) && !this.#isTaken(comprehension, starting))
      return false;
    return (condition ? others.length === 0 : true) && loops.every(({ iterable }) => this.#runs(iterable));
  }

  #isTaken(generator: Comprehension, takers: RegExp): boolean {
    const { parent } = generator;
    const call = parent?.kind === "argument" && parent.parent?.kind === "call" ? parent.parent : undefined;
    if (!call || call.args[0] !== parent) return false;
    if (takers === eager && call.callee.kind === "attribute" && /^(join|extend)$/.test(call.callee.name)) return true;
    return takers.test(this.#subject.program.importPath(call.callee) ?? "");
  }

  /** Whether a loop over it runs at least once. */
  #runs(iterable: Expression): boolean {
    if (this.#hasItems(iterable)) return true;
    const [first] = iterable.kind === "call" ? iterable.args : [];
    const isWrapped =
      iterable.kind === "call" &&
      /^builtins\.(sorted|reversed|list|tuple|enumerate)$/.test(
        this.#subject.program.importPath(iterable.callee) ?? "",
      );
    return isWrapped && first !== undefined && this.#hasItems(first.value);
  }
}

/** Whether a change of the path may take something away from what is at the other one. */
function isAbove(path: Path | undefined, other: Path): boolean {
  return !path || (path.length <= other.length && path.every((key, index) => key === other[index]));
}

function leaves(node: Node, how: RegExp): boolean {
  return node.kind !== "function" && Array.from(walk(node)).some(({ kind }) => how.test(kind));
}
