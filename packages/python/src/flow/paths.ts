import type { Binding, Origin } from "../scope/bindings.ts";
import { once } from "../scope/once.ts";
import type { Program } from "../scope/program.ts";
import type { Expression } from "../tree/nodes.ts";
import { argumentsFor } from "./arguments.ts";

/**
 * The keys from the top of the context to a part of it; `[]` is an item of a list. The context itself is the empty
 * path.
 */
export type Path = readonly string[];

const deepest = 12;

/** Finds the part of the context that an expression certainly is; undefined if it may be anything else. */
export class Paths {
  readonly #program: Program;
  readonly of = once((expression: Expression) => this.#find(expression), deepest);

  constructor(program: Program) {
    this.#program = program;
  }

  /** Whether the expression is the whole context, under any name. */
  isContext(expression: Expression): boolean {
    return this.of(expression)?.length === 0;
  }

  /** The key of an index, which may be a name that is bound to one text. */
  key(index: Expression): string | undefined {
    if (index.kind !== "name") return keyOf(index);
    const [only, ...others] = this.#program.reaching(index);
    const isText = only?.origin.kind === "value" && only.origin.value.kind === "text" && others.length === 0;
    return isText && only.origin.kind === "value" ? keyOf(only.origin.value) : undefined;
  }

  /** The path that `object.get(index)` looks up. On the context, the index is a dot path. */
  pathOfGet(object: Expression, index: Expression): Path | undefined {
    const path = this.#below(object, this.key(index));
    const [key = "", ...inside] = path ?? [];
    if (path === undefined || inside.length > 0 || !key.includes(".")) return path;
    return key.split(".").map((step) => (/^\d+$/.test(step) ? "[]" : step));
  }

  #find(expression: Expression): Path | undefined {
    switch (expression.kind) {
      case "name":
        return this.#agreed(this.#program.reaching(expression));
      case "subscript":
        return this.#below(expression.object, this.key(expression.index));
      case "call":
        return this.#got(expression);
      case "walrus":
        return this.of(expression.value);
      case "binary":
        return expression.op === "or" ? this.of(expression.left) : undefined;
      default:
        return undefined;
    }
  }

  #below(object: Expression, key: string | undefined): Path | undefined {
    const path = key === undefined ? undefined : this.of(object);
    return path && [...path, key as string];
  }

  /** `x.get("key")` and other forms of `x["key"]`. */
  #got({ callee, args }: Expression & { kind: "call" }): Path | undefined {
    const [first] = args;
    if (callee.kind !== "attribute" || !/^(get|setdefault|__getitem__)$/.test(callee.name) || !first) return undefined;
    if (callee.name === "get") return this.pathOfGet(callee.object, first.value);
    return this.#below(callee.object, this.key(first.value));
  }

  #agreed(bindings: readonly Binding[]): Path | undefined {
    const giving = bindings.filter(({ origin }) => origin.kind !== "declared" && origin.kind !== "augment");
    return onlyOf(giving.map(({ origin, name }) => this.#ofOrigin(origin, name)));
  }

  #ofOrigin(origin: Origin, name: string): Path | undefined {
    switch (origin.kind) {
      case "provided":
        return name === "context" ? [] : undefined;
      case "value":
        return this.of(origin.value);
      case "item":
        return this.#itemOf(origin.of);
      case "param":
        return this.#ofArguments(origin);
      default:
        return undefined;
    }
  }

  #itemOf(iterable: Expression): Path | undefined {
    const path = this.of(iterable);
    return path && path.length > 0 ? [...path, "[]"] : undefined;
  }

  #ofArguments(origin: Origin & { kind: "param" }): Path | undefined {
    const passed = argumentsFor(this.#program, origin);
    return passed.isComplete ? onlyOf(passed.values.map((value) => this.of(value))) : undefined;
  }
}

function onlyOf([first, ...others]: (Path | undefined)[]): Path | undefined {
  return first && others.every((other) => other?.join("\n") === first.join("\n")) ? first : undefined;
}

/** The literal key of an index; a number is an item of a list. */
export function keyOf(index: Expression): string | undefined {
  if (index.kind === "text") return index.value;
  if (index.kind === "number") return "[]";
  return index.kind === "unary" && index.operand.kind === "number" ? "[]" : undefined;
}
