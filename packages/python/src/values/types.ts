import type { Paths } from "../flow/paths.ts";
import { methodTypes, resultTypeOf, type Type, typeOfValue } from "../known/types.ts";
import type { Origin } from "../scope/bindings.ts";
import { once } from "../scope/once.ts";
import type { Call, Program } from "../scope/program.ts";
import type { Expression } from "../tree/nodes.ts";

const deepest = 10;

/**
 * The type that an expression certainly has, by its literal, function, class or method; undefined if it may have
 * another. Items of loops and results of functions in the code are not followed: the sandbox rejects an unfit value
 * with its key and a fix.
 */
export class Types {
  readonly #program: Program;
  readonly #paths: Paths;
  readonly of = once((expression: Expression) => this.#find(expression), deepest);

  constructor(program: Program, paths: Paths) {
    this.#program = program;
    this.#paths = paths;
  }

  #find(expression: Expression): Type | undefined {
    switch (expression.kind) {
      case "name":
        return this.#ofName(expression);
      case "constant":
        return expression.value === null ? "none" : undefined;
      case "bytes":
      case "dict":
      case "number":
      case "set":
        return expression.kind;
      case "lambda":
        return "function";
      case "comprehension":
        return expression.form === "list" ? undefined : expression.form;
      case "attribute":
        return typeOfValue(this.#program.importPath(expression) ?? "");
      case "call":
        return this.#ofCall(expression);
      case "walrus":
        return this.of(expression.value);
      case "conditional":
        return commonType([expression.yes, expression.no].map(this.of));
      case "subscript":
        return this.#ofPart(expression);
      case "binary":
        return this.#ofBinary(expression);
      default:
        return undefined;
    }
  }

  /** `total += x` keeps the types listed here. */
  #ofName(name: Expression & { kind: "name" }): Type | undefined {
    const origins = this.#program.reaching(name).map(({ origin }) => origin);
    const made = origins.filter(({ kind }) => kind !== "augment");
    const type = commonType(made.map((origin) => this.#ofOrigin(origin)));
    return made.length === origins.length || /^(Decimal|set|timedelta|datetime)$/.test(type ?? "") ? type : undefined;
  }

  #ofOrigin(origin: Origin): Type | undefined {
    switch (origin.kind) {
      case "value":
        return this.of(origin.value);
      case "with":
        return typeOfEntered(this.of(origin.value));
      case "handler":
        return "exception";
      case "function":
      case "class":
        return origin.node.decorators.length === 0 ? origin.kind : undefined;
      case "import":
        return typeOfValue(origin.path) ?? (origin.path.includes(".") ? undefined : "module");
      default:
        return undefined;
    }
  }

  #ofCall({ callee, args }: Call): Type | undefined {
    const path = this.#program.importPath(callee);
    const [first, second] = args.map(({ value }) => value);
    if (path === "builtins.float" && first?.kind === "text" && /^\s*[-+]?(nan|inf)/i.test(first.value)) return "nan";
    if (first && path === "builtins.sum") return this.#ofSum(first, second);
    if (first && second && path === "builtins.round") return this.of(first) === "Decimal" ? "Decimal" : undefined;
    if (path !== undefined) return resultTypeOf(path);
    const ownClass = this.#program.classOf(callee);
    if (ownClass) return ownClass.bases.length === 0 ? "object" : undefined;
    if (callee.kind !== "attribute") return undefined;
    if (args.length === 0 && this.#isViewOfContext(callee)) return "view";
    if (callee.name === "encode" && /^(text|format)$/.test(callee.object.kind)) return "bytes";
    const type = this.of(callee.object);
    const known = type && type !== "none" && type !== "number" ? methodTypes[type] : undefined;
    return known && Object.hasOwn(known, callee.name) ? known[callee.name] : undefined;
  }

  #ofSum(items: Expression, start: Expression | undefined): Type | undefined {
    const parts = [items.kind === "comprehension" ? items.element : items, ...(start ? [start] : [])];
    return parts.some((part) => this.of(part) === "Decimal") ? "Decimal" : undefined;
  }

  /** Columns and rows of a DataFrame: `df["price"]`, `df[df["price"] > 1]`. */
  #ofPart({ object, index }: Expression & { kind: "subscript" }): Type | undefined {
    if (this.of(object) !== "DataFrame") return undefined;
    return index.kind === "text" ? "Series" : /^(list|binary)$/.test(index.kind) ? "DataFrame" : undefined;
  }

  #ofBinary({ op, left, right }: Expression & { kind: "binary" }): Type | undefined {
    const [one, other] = [this.of(left), this.of(right)];
    if (op === "or") return commonType([one, other]);
    if (!/^[-+*/%&|^]$/.test(op)) return undefined;
    const winner = [one, other].find((type) => /^(Decimal|ndarray|Series)$/.test(type ?? ""));
    const isMoved = (one === "datetime" || one === "date") && other === "timedelta";
    const isOwn = isMoved || one === "set" || (one === "Path" && op === "/");
    return winner ?? (isOwn ? one : undefined);
  }

  /** Context values are JSON, so a value with these methods is a dict. */
  #isViewOfContext({ object, name }: Expression & { kind: "attribute" }): boolean {
    if (!/^(keys|values|items)$/.test(name) || !this.#paths.of(object)) return false;
    return !this.#program.nodes.some((node) => node.kind === "function" && node.id === name);
  }
}

/** The type of the name in `with ... as name`, for objects that return themselves. */
function typeOfEntered(type: Type | undefined): Type | undefined {
  return /^(file|buffer|connection|Image|Document|Response)$/.test(type ?? "") ? type : undefined;
}

/** `None` as an alternative does not change the type: the other value is unfit anyway. */
function commonType(types: readonly (Type | undefined)[]): Type | undefined {
  const [type = "none", ...others] = new Set(types.filter((each) => each !== "none").map((each) => each ?? "unknown"));
  return types.length === 0 || others.length > 0 || type === "unknown" ? undefined : type;
}
