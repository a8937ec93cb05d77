import { keyOf, knownEntries, type Paths } from "../flow/paths.ts";
import { methodTypes, resultTypeOf, type Type, typeOfValue, type UnfitType, unfitTypes } from "../known/functions.ts";
import { type Call, once, type Program } from "../scope/program.ts";
import type { Origin } from "../scope/scopes.ts";
import type { Expression, Node } from "../tree/nodes.ts";

const deepestType = 10;

/**
 * Returns the type that an expression certainly has; undefined for items of loops and for results of the code's own
 * functions.
 */
export type TypeOf = (expression: Expression) => Type | undefined;

export function createTypeOf(program: Program, paths: Paths): TypeOf {
  const typeOf = once((expression: Expression) => findType(expression), deepestType);
  return typeOf;

  function findType(expression: Expression): Type | undefined {
    const { kind } = expression;
    if (kind === "name") return typeOfName(expression);
    if (kind === "constant") return expression.value === null ? "none" : undefined;
    if (kind === "bytes" || kind === "dict" || kind === "number" || kind === "set") return kind;
    if (kind === "lambda") return "function";
    if (kind === "comprehension") return expression.form === "list" ? undefined : expression.form;
    if (kind === "attribute") return typeOfValue(program.importPath(expression) ?? "");
    if (kind === "call") return typeOfCall(expression);
    if (kind === "walrus") return typeOf(expression.value);
    if (kind === "conditional") return commonType([expression.yes, expression.no].map(typeOf));
    if (kind === "subscript") return typeOfPart(expression);
    return kind === "binary" ? typeOfBinary(expression) : undefined;
  }

  /** Returns the type of a name. After `total += x` it is known only for types that `+=` does not change. */
  function typeOfName(name: Expression & { kind: "name" }): Type | undefined {
    const origins = program.reaching(name).map(({ origin }) => origin);
    const made = origins.filter(({ kind }) => kind !== "augment");
    const type = commonType(made.map((origin) => typeOfOrigin(origin)));
    return made.length === origins.length || /^(Decimal|set|timedelta|datetime)$/.test(type ?? "") ? type : undefined;
  }

  function typeOfOrigin(origin: Origin): Type | undefined {
    const { kind } = origin;
    if (kind === "value") return typeOf(origin.value);
    if (kind === "with") return typeOfEntered(typeOf(origin.value));
    if (kind === "handler") return "exception";
    if (kind === "function" || kind === "class") return origin.node.decorators.length === 0 ? kind : undefined;
    if (kind !== "import") return undefined;
    return typeOfValue(origin.path) ?? (origin.path.includes(".") ? undefined : "module");
  }

  function typeOfCall({ callee, args }: Call): Type | undefined {
    const path = program.importPath(callee);
    const [first, second] = args.map(({ value }) => value);
    if (path === "builtins.float" && first?.kind === "text" && /^\s*[-+]?(nan|inf)/i.test(first.value)) return "nan";
    if (first && path === "builtins.sum") return typeOfSum(first, second);
    if (first && second && path === "builtins.round") return typeOf(first) === "Decimal" ? "Decimal" : undefined;
    if (path !== undefined) return resultTypeOf(path);
    const ownClass = program.classOf(callee);
    if (ownClass) return ownClass.bases.length === 0 ? "object" : undefined;
    if (callee.kind !== "attribute") return undefined;
    if (args.length === 0 && isViewOfContext(callee)) return "view";
    if (callee.name === "encode" && /^(text|format)$/.test(callee.object.kind)) return "bytes";
    const type = typeOf(callee.object);
    const known = type && type !== "none" && type !== "number" ? methodTypes[type] : undefined;
    return known && Object.hasOwn(known, callee.name) ? known[callee.name] : undefined;
  }

  function typeOfSum(items: Expression, start: Expression | undefined): Type | undefined {
    const parts = [items.kind === "comprehension" ? items.element : items, ...(start ? [start] : [])];
    return parts.some((part) => typeOf(part) === "Decimal") ? "Decimal" : undefined;
  }

  /** Returns the type of a column or of rows of a DataFrame: `df["price"]`, `df[df["price"] > 1]`. */
  function typeOfPart({ object, index }: Expression & { kind: "subscript" }): Type | undefined {
    if (typeOf(object) !== "DataFrame") return undefined;
    return index.kind === "text" ? "Series" : /^(list|binary)$/.test(index.kind) ? "DataFrame" : undefined;
  }

  function typeOfBinary({ op, left, right }: Expression & { kind: "binary" }): Type | undefined {
    const [one, other] = [typeOf(left), typeOf(right)];
    if (op === "or") return commonType([one, other]);
    if (!/^[-+*/%&|^]$/.test(op)) return undefined;
    const winner = [one, other].find((type) => /^(Decimal|ndarray|Series)$/.test(type ?? ""));
    const isMoved = (one === "datetime" || one === "date") && other === "timedelta";
    const isOwn = isMoved || one === "set" || (one === "Path" && op === "/");
    return winner ?? (isOwn ? one : undefined);
  }

  /**
   * Returns whether the attribute is `keys`, `values` or `items` of a context value. Context values are JSON, so a
   * value with one of these methods is a dict.
   */
  function isViewOfContext({ object, name }: Expression & { kind: "attribute" }): boolean {
    if (!/^(keys|values|items)$/.test(name) || !paths.of(object)) return false;
    return !program.nodes.some((node) => node.kind === "function" && node.id === name);
  }
}

/** Returns the type of the name in `with ... as name`, for objects that return themselves when they are entered. */
function typeOfEntered(type: Type | undefined): Type | undefined {
  return /^(file|buffer|connection|Image|Document|Response)$/.test(type ?? "") ? type : undefined;
}

/**
 * Returns the common type of all alternatives. Ignores the type of None: a value that cannot be stored is a mistake
 * even if None is the alternative.
 */
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

/**
 * Finds the first part of a value that the context certainly cannot store, or with `forDumps` one that json.dumps
 * certainly rejects.
 */
export function findUnfit(program: Program, typeOf: TypeOf, value: Expression, forDumps = false): Unfit | undefined {
  return find(value, "", 0);

  function find(value: Expression, path: string, depth: number): Unfit | undefined {
    if (depth > deepestPart) return undefined;
    const type = typeOf(value);
    if (isUnfit(type, forDumps)) {
      const [what, cure] = unfitTypes[type];
      return { node: value, path, what, cure };
    }
    const { kind } = value;
    if (kind === "dict") return first(value.entries, (entry) => inEntry(entry, path, depth));
    if (kind === "list" || kind === "tuple") return first(value.items, (item) => find(item, `${path}[]`, depth + 1));
    if (kind === "name") return inNamed(value, path, depth + 1);
    if (kind !== "comprehension") return undefined;
    if (value.key && isBadKey(value.key)) return keyProblem(value.key, path);
    return find(value.element, value.form === "dict" ? path : `${path}[]`, depth + 1);
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

  /** Returns whether json.dumps rejects a key. json.dumps accepts texts, numbers and None. */
  function isBadKey(key: Expression): boolean {
    if (key.kind === "tuple" || key.kind === "bytes") return true;
    const type = typeOf(key);
    if (type === "number" || type === "none") return !forDumps;
    return type === "datetime" || type === "date" || type === "Decimal" || type === "UUID" || type === "Path";
  }
}

/**
 * Returns the values that `rows.append(x)` and `row["at"] = x` add to a name; "unknown" for any other possible change.
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
