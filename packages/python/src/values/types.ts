import { keyOf, knownEntries, type Paths } from "../flow/paths.ts";
import { methodTypes, resultTypeOf, type Type, typeOfValue, type UnfitType, unfitTypes } from "../known/functions.ts";
import { type Call, once, type Program } from "../scope/program.ts";
import type { Origin } from "../scope/scopes.ts";
import type { Expression, Node } from "../tree/nodes.ts";

const deepestType = 10;

/**
 * The type that an expression certainly has, by its literal, function, class or method; undefined if it may have
 * another. Items of loops and results of functions in the code are not followed: the sandbox rejects an unfit value
 * with its key and a fix.
 */
export class Types {
  readonly #program: Program;
  readonly #paths: Paths;
  readonly of = once((expression: Expression) => this.#find(expression), deepestType);

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

export interface Unfit {
  node: Node;
  path: string;
  what: string;
  cure: string;
}

const deepestPart = 6;

/** Finds the first part of a value that certainly cannot be stored. `forDumps`: that json.dumps rejects. */
export function findUnfit(program: Program, types: Types, value: Expression, forDumps = false): Unfit | undefined {
  return find(value, "", 0);

  function find(value: Expression, path: string, depth: number): Unfit | undefined {
    if (depth > deepestPart) return undefined;
    const type = types.of(value);
    if (isUnfit(type, forDumps)) {
      const [what, cure] = unfitTypes[type];
      return { node: value, path, what, cure };
    }
    switch (value.kind) {
      case "dict":
        return first(value.entries, (entry) => inEntry(entry, path, depth));
      case "list":
      case "tuple":
        return first(value.items, (item) => find(item, `${path}[]`, depth + 1));
      case "comprehension":
        if (value.key && isBadKey(value.key)) return keyProblem(value.key, path);
        return find(value.element, value.form === "dict" ? path : `${path}[]`, depth + 1);
      case "name":
        return inNamed(value, path, depth + 1);
      default:
        return undefined;
    }
  }

  function inEntry({ key, value }: { key: Expression | null; value: Expression }, path: string, depth: number) {
    if (key && isBadKey(key)) return keyProblem(key, path);
    const name = key ? keyOf(key) : undefined;
    return find(value, name === undefined ? path : `${path}.${name}`, depth + 1);
  }

  function inNamed(name: Expression & { kind: "name" }, path: string, depth: number): Unfit | undefined {
    const [only, ...others] = program.reaching(name);
    if (only?.origin.kind !== "value" || others.length > 0) return undefined;
    const { value } = only.origin;
    const additions = program.loadsOf(name.id).flatMap((use) => (use === name ? [] : additionsBy(program, use)));
    if (additions.includes("unknown")) return undefined;
    const known = additions.filter((addition) => addition !== "unknown");
    if (value.kind === "list" || value.kind === "comprehension") {
      return find(value, path, depth) ?? first(known, (added) => find(added.value, `${path}[]`, depth));
    }
    const entries = [...(knownEntries(program, value) ?? []), ...known];
    const last = new Map(entries.map((entry) => [entry.key ?? "", entry.value]));
    return first(last, ([key, value]) => find(value, `${path}.${key}`, depth));
  }

  /** json.dumps accepts numbers and None as keys, but no other keys that are not texts. */
  function isBadKey(key: Expression): boolean {
    if (key.kind === "tuple" || key.kind === "bytes") return true;
    const type = types.of(key);
    if (type === "number" || type === "none") return !forDumps;
    return type === "datetime" || type === "date" || type === "Decimal" || type === "UUID" || type === "Path";
  }
}

/**
 * Values that `rows.append(x)` and `row["at"] = x` add to the value of a name; "unknown" if the use may change it in
 * other ways.
 */
function additionsBy(program: Program, use: Node): ({ key?: string; value: Expression } | "unknown")[] {
  const { parent } = use;
  const holder = parent?.parent;
  if (parent?.kind === "attribute" && parent.name === "append" && holder?.kind === "call") {
    return holder.args.map(({ value }) => ({ value }));
  }
  if (parent?.kind === "subscript" && parent.stores && holder?.kind === "assign" && holder.value) {
    const key = keyOf(parent.index);
    return key === undefined || key === "[]" ? ["unknown"] : [{ key, value: holder.value }];
  }
  const isRead = parent?.kind === "subscript" && !/^(attribute|delete|augment)$/.test(holder?.kind ?? "");
  const isHandedToPython =
    holder?.kind === "call" && /^(builtins|json)\./.test(program.importPath(holder.callee) ?? "");
  return isRead || isHandedToPython ? [] : ["unknown"];
}

function isUnfit(type: Type | undefined, forDumps: boolean): type is UnfitType {
  if (type === undefined || type === "dict" || type === "none" || type === "number") return false;
  return forDumps ? type !== "numpy number" && type !== "nan" : type !== "bytes";
}

function keyProblem(key: Node, path: string): Unfit {
  return { node: key, path, what: "a dict with keys that are no texts", cure: "use str(key) for its keys" };
}

function first<T>(items: Iterable<T>, look: (item: T) => Unfit | undefined): Unfit | undefined {
  for (const item of items) {
    const found = look(item);
    if (found) return found;
  }
  return undefined;
}
