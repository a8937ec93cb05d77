import { Paths } from "../flow/paths.ts";
import { answers, madeBy, type Type, typeOfValue } from "../known/types.ts";
import type { Origin } from "../scope/bindings.ts";
import type { Call, Callable, Program } from "../scope/program.ts";
import { ancestors, type Expression, type Node, walk } from "../tree/nodes.ts";
import { itemType } from "./items.ts";

const deepest = 10;
const arithmetic = /^[-+*/%]$|^\/\/$/;

/** The type that an expression certainly has; undefined where it may have another. */
export class Types {
  private readonly program: Program;
  private readonly known = new Map<Expression, Type | undefined>();
  private readonly paths: Paths;
  private depth = 0;

  constructor(program: Program, paths = new Paths(program)) {
    this.program = program;
    this.paths = paths;
  }

  of(expression: Expression): Type | undefined {
    if (this.depth > deepest || this.known.has(expression)) return this.known.get(expression);
    this.known.set(expression, undefined);
    this.depth++;
    const type = this.find(expression);
    this.depth--;
    this.known.set(expression, type);
    return type;
  }

  private find(expression: Expression): Type | undefined {
    switch (expression.kind) {
      case "name":
        return this.ofName(expression);
      case "number":
        return /j$/i.test(expression.text) ? "complex" : "number";
      case "constant":
        return expression.value === null ? "none" : undefined;
      case "bytes":
        return "bytes";
      case "dict":
        return "dict";
      case "set":
        return "set";
      case "lambda":
        return "function";
      case "comprehension":
        return ({ set: "set", generator: "generator", dict: "dict", list: undefined } as const)[expression.form];
      case "attribute":
        return this.ofAttribute(expression);
      case "subscript":
        return this.ofPart(expression);
      case "call":
        return this.ofCall(expression);
      case "walrus":
        return this.of(expression.value);
      case "unary":
        return expression.op === "-" ? this.of(expression.operand) : undefined;
      case "binary":
        return this.ofBinary(expression);
      case "conditional":
        return either(this.of(expression.yes), this.of(expression.no));
      default:
        return undefined;
    }
  }

  private ofName(name: Expression & { kind: "name" }): Type | undefined {
    const bindings = this.program.reaching(name);
    if (bindings.some(({ node }) => isInLoopOf(name, node))) return undefined;
    const augmented = bindings.filter(({ origin }) => origin.kind === "augment");
    const [first, ...others] = bindings
      .filter(({ origin }) => origin.kind !== "augment" && origin.kind !== "declared")
      .map(({ origin }) => this.ofOrigin(origin));
    const type = others.reduce((one, other) => (one === other ? one : either(one, other)), first);
    if (augmented.length === 0) return type;
    const added = augmented.map(({ origin }) => (origin.kind === "augment" ? this.of(origin.value) : undefined));
    if (type === "number") return added.every((each) => each === "Decimal") ? "Decimal" : undefined;
    return type === "Decimal" || type === "set" || type === "timedelta" || type === "datetime" ? type : undefined;
  }

  private ofOrigin(origin: Origin): Type | undefined {
    switch (origin.kind) {
      case "value":
        return this.of(origin.value);
      case "with":
        return entered(this.of(origin.value));
      case "item":
        return itemType(this, this.program, origin.of);
      case "handler":
        return "exception";
      case "function":
        return origin.node.decorators.length === 0 ? "function" : undefined;
      case "class":
        return origin.node.decorators.length === 0 ? "class" : undefined;
      case "import":
        return typeOfValue(origin.path) ?? (origin.path.includes(".") ? undefined : "module");
      default:
        return undefined;
    }
  }

  private ofAttribute(expression: Expression & { kind: "attribute" }): Type | undefined {
    const path = this.program.importPath(expression);
    if (path !== undefined) return typeOfValue(path);
    if (this.isMember(expression.object)) return "object";
    const type = this.of(expression.object);
    if (type === "DataFrame" && /^(columns|index|values|T)$/.test(expression.name)) return "ndarray";
    return type === "Series" && /^(str|dt|values|index)$/.test(expression.name) ? "Series" : undefined;
  }

  /** Of an enumeration: its members are no texts, even where their values are. */
  private isMember(owner: Expression): boolean {
    const own = this.program.classOf(owner);
    const [base, ...others] = own?.bases ?? [];
    return base !== undefined && others.length === 0 && this.program.importPath(base.value) === "enum.Enum";
  }

  private ofPart({ object, index }: Expression & { kind: "subscript" }): Type | undefined {
    const type = this.of(object);
    if (type === "GroupBy") return "GroupBy";
    if (type === "Document") return "object";
    if (index.kind === "number" && type === undefined) return itemType(this, this.program, object);
    if (type === "DataFrame")
      return index.kind === "text"
        ? "Series"
        : index.kind === "list" || this.of(index) === "Series"
          ? "DataFrame"
          : undefined;
    return type === "Series" && (index.kind === "slice" || this.of(index) === "Series") ? "Series" : undefined;
  }

  private ofCall(call: Call): Type | undefined {
    const { callee, args } = call;
    const path = this.program.importPath(callee);
    if (path !== undefined)
      return path.startsWith("builtins.") ? this.ofBuiltin(path, args) : this.ofModule(path, args);
    const local = this.program.functionOf(callee);
    if (local) return this.ofAnswer(local);
    const ownClass = this.program.classOf(callee);
    if (ownClass) return ownClass.bases.length === 0 ? "object" : undefined;
    if (callee.kind !== "attribute") return undefined;
    const type = this.of(callee.object);
    if (args.length === 0 && this.isViewOfContext(callee)) return "view";
    if (callee.name === "encode" && /^(text|format)$/.test(callee.object.kind)) return "bytes";
    const known = type && type !== "none" && type !== "number" ? answers[type] : undefined;
    return known && Object.hasOwn(known, callee.name) ? known[callee.name] : undefined;
  }

  /** What the context holds is JSON: only its dicts have these methods. */
  private isViewOfContext({ object, name }: Expression & { kind: "attribute" }): boolean {
    if (!/^(keys|values|items)$/.test(name) || !this.paths.of(object)) return false;
    return !this.program.nodes.some((node) => node.kind === "function" && node.id === name);
  }

  private ofModule(path: string, args: Call["args"]): Type | undefined {
    const [first] = args;
    const isMiddle = /^statistics\.(mean|median|median_low|median_high|stdev|pstdev)$/.test(path);
    const isOfDecimals = isMiddle && first && itemType(this, this.program, first.value) === "Decimal";
    return isOfDecimals ? "Decimal" : madeBy(path);
  }

  private ofBuiltin(path: string, args: Call["args"]): Type | undefined {
    const [first, second] = args.map(({ value }) => value);
    if (path === "builtins.float" && first?.kind === "text") {
      return /^\s*[-+]?(nan|inf|infinity)\s*$/i.test(first.value) ? "nan" : undefined;
    }
    if (path === "builtins.sum" && first) {
      const element = itemType(this, this.program, first);
      const start = second && this.of(second);
      return start === "Decimal" || element === "Decimal" ? "Decimal" : undefined;
    }
    if (/^builtins\.(max|min)$/.test(path) && first && args.every(({ name }, at) => at === 0 || name === "key")) {
      return itemType(this, this.program, first);
    }
    if (path === "builtins.round" && first && second) return this.of(first) === "Decimal" ? "Decimal" : undefined;
    if (path === "builtins.abs" && first) return this.of(first) === "Decimal" ? "Decimal" : undefined;
    return madeBy(path);
  }

  private ofBinary({ op, left, right }: Expression & { kind: "binary" }): Type | undefined {
    if (op === "or") return either(this.of(left), this.of(right));
    const [one, other] = [this.of(left), this.of(right)];
    if (one === "Series" || other === "Series") return op === "in" || op === "not in" ? undefined : "Series";
    if (arithmetic.test(op) && (one === "Decimal" || other === "Decimal")) return "Decimal";
    if (arithmetic.test(op) && (one === "complex" || other === "complex")) return "complex";
    if (arithmetic.test(op) && (one === "ndarray" || other === "ndarray")) return "ndarray";
    if (/^[-&|^]$/.test(op) && one === "set") return "set";
    if (op === "/" && one === "Path") return "Path";
    return ofTimes(op, one, other);
  }

  private ofAnswer(local: Callable): Type | undefined {
    if (local.kind === "lambda") return this.of(local.body);
    if (local.decorators.length > 0) return undefined;
    const own = Array.from(walk(local.body)).filter((node) => holderOf(node) === local);
    const returns = own.flatMap((node) => (node.kind === "return" && node.value ? [node.value] : []));
    if (own.some(({ kind }) => kind === "yield")) return "generator";
    const [first, ...others] = returns.map((value) => this.of(value));
    return others.every((other) => other === first) ? first : undefined;
  }
}

/** What a `with` gives to its name: of these, the thing itself. */
function entered(type: Type | undefined): Type | undefined {
  return /^(file|buffer|connection|Image|Document|Response)$/.test(type ?? "") ? type : undefined;
}

function ofTimes(op: string, one: Type | undefined, other: Type | undefined): Type | undefined {
  const isPoint = one === "datetime" || one === "date";
  if (isPoint && other === "timedelta" && (op === "+" || op === "-")) return one;
  if (isPoint && op === "-" && other === one) return "timedelta";
  return one === "timedelta" && other === "timedelta" && /^[-+]$/.test(op) ? one : undefined;
}

/** A value or None is as unfit as the value. */
function either(one: Type | undefined, other: Type | undefined): Type | undefined {
  if (one === other) return one;
  if (one === "none") return other;
  return other === "none" ? one : undefined;
}

function holderOf(node: Node): Node | undefined {
  for (const ancestor of ancestors(node)) if (/^(function|lambda|class)$/.test(ancestor.kind)) return ancestor;
  return undefined;
}

/** `x = f(x)` in a loop: which of them it is depends on how often it ran. */
function isInLoopOf(name: Node, binding: Node): boolean {
  return binding.from > name.from && Array.from(ancestors(name)).some(({ kind }) => kind === "while");
}
