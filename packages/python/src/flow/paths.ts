import { type Call, type Callable, once, type Program } from "../scope/program.ts";
import type { Binding, Origin } from "../scope/scopes.ts";
import { ancestors, type Expression, isWithin, type Node, walk } from "../tree/nodes.ts";

/** The keys from the top of the context to a part; `[]` is an item of a list. The context itself is the empty path. */
export type Path = readonly string[];

const deepestPath = 12;

/** Finds the path of an expression that certainly is a part of the context; undefined if it may be another value. */
export class Paths {
  readonly #program: Program;
  readonly of = once((expression: Expression) => this.#find(expression), deepestPath);

  constructor(program: Program) {
    this.#program = program;
  }

  isContext(expression: Expression): boolean {
    return this.of(expression)?.length === 0;
  }

  /**
   * Returns the key that an index stands for. The index is a literal, or a name to which the code binds a single text.
   */
  key(index: Expression): string | undefined {
    if (index.kind !== "name") return keyOf(index);
    const [only, ...others] = this.#program.reaching(index);
    const isText = only?.origin.kind === "value" && only.origin.value.kind === "text" && others.length === 0;
    return isText && only.origin.kind === "value" ? keyOf(only.origin.value) : undefined;
  }

  /**
   * Returns the path that `object.get(index)` looks up. If the object is the context itself, the index is a dot path.
   */
  pathOfGet(object: Expression, index: Expression): Path | undefined {
    const path = this.#below(object, this.key(index));
    const [key = "", ...inside] = path ?? [];
    if (path === undefined || inside.length > 0 || !key.includes(".")) return path;
    return key.split(".").map((step) => (/^\d+$/.test(step) ? "[]" : step));
  }

  #find(expression: Expression): Path | undefined {
    if (expression.kind === "name") return this.#agreed(this.#program.reaching(expression));
    if (expression.kind === "subscript") return this.#below(expression.object, this.key(expression.index));
    if (expression.kind === "call") return this.#got(expression);
    if (expression.kind === "walrus") return this.of(expression.value);
    return expression.kind === "binary" && expression.op === "or" ? this.of(expression.left) : undefined;
  }

  #below(object: Expression, key: string | undefined): Path | undefined {
    const path = key === undefined ? undefined : this.of(object);
    return path && [...path, key as string];
  }

  /** Returns the path of a call that reads a key, such as `x.get("key")`. */
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
    if (origin.kind === "provided") return name === "context" ? [] : undefined;
    if (origin.kind === "value") return this.of(origin.value);
    if (origin.kind === "item") return this.#itemOf(origin.of);
    return origin.kind === "param" ? this.#ofArguments(origin) : undefined;
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

/** Returns the key of an index that is a literal; `[]` for a number, because a number selects an item of a list. */
export function keyOf(index: Expression): string | undefined {
  if (index.kind === "text") return index.value;
  if (index.kind === "number") return "[]";
  return index.kind === "unary" && index.operand.kind === "number" ? "[]" : undefined;
}

interface KnownEntry {
  key: string;
  value: Expression;
}

const deepestDict = 5;

/** Lists every entry that a dict can have; undefined unless the code spells all of them out. */
export function knownEntries(program: Program, dict: Expression, depth = 0): KnownEntry[] | undefined {
  if (depth > deepestDict) return undefined;
  if (dict.kind === "dict") return literalEntries(program, dict, depth);
  if (dict.kind === "call") return callEntries(program, dict, depth);
  if (dict.kind !== "name") return undefined;
  const bindings = program.reaching(dict);
  const stored = findStores(program, dict.id);
  if (!stored || bindings.length === 0) return undefined;
  const all = bindings.map(({ origin }) =>
    origin.kind === "value" ? knownEntries(program, origin.value, depth + 1) : undefined,
  );
  return all.every((entries) => entries !== undefined) ? [...all.flat(), ...stored] : undefined;
}

function literalEntries(
  program: Program,
  dict: Expression & { kind: "dict" },
  depth: number,
): KnownEntry[] | undefined {
  const found: KnownEntry[] = [];
  for (const { key, value } of dict.entries) {
    const name = key ? keyOf(key) : undefined;
    const inner = key ? undefined : knownEntries(program, value, depth + 1);
    if (name !== undefined && name !== "[]") found.push({ key: name, value });
    else if (inner) found.push(...inner);
    else return undefined;
  }
  return found;
}

/** Returns the entries of `dict(total=1)`, or of the result of a function that is in the code. */
function callEntries(program: Program, call: Call, depth: number): KnownEntry[] | undefined {
  const { callee, args } = call;
  if (program.importPath(callee) === "builtins.dict") {
    const all = args.map(({ name, stars, value }) =>
      name !== null ? [{ key: name, value }] : stars === 1 ? undefined : knownEntries(program, value, depth + 1),
    );
    return all.every((entries) => entries !== undefined) ? all.flat() : undefined;
  }
  const answers = returnValues(program.functionOf(callee));
  const all = answers?.map((answer) => knownEntries(program, answer, depth + 1));
  return all?.every((entries) => entries !== undefined) ? all.flat() : undefined;
}

function returnValues(local: Callable | undefined): Expression[] | undefined {
  if (!local || local.kind === "lambda") return local && [local.body];
  if (local.decorators.length > 0) return undefined;
  const own = Array.from(walk(local.body)).filter(
    (node) => node.kind !== "return" || enclosingFunction(node) === local,
  );
  if (own.some(({ kind }) => kind === "yield")) return undefined;
  return own.flatMap((node) => (node.kind === "return" && node.value ? [node.value] : []));
}

function enclosingFunction(node: Node): Node | undefined {
  for (const ancestor of ancestors(node)) if (/^(function|lambda)$/.test(ancestor.kind)) return ancestor;
  return undefined;
}

/**
 * Returns the entries that statements like `name["key"] = ...` add to a dict; undefined if the dict may change in
 * another way.
 */
function findStores(program: Program, id: string): KnownEntry[] | undefined {
  const found: KnownEntry[] = [];
  for (const node of program.nodes) {
    if (node.kind !== "name" || node.id !== id || node.stores) continue;
    const { parent } = node;
    if (!parent || !isSafeUse(program, node, parent)) return undefined;
    if (parent.kind !== "subscript" || parent.object !== node) continue;
    const key = keyOf(parent.index);
    if (key === undefined || key === "[]") return undefined;
    const statement = parent.parent;
    const isStore = statement?.kind === "assign" && statement.targets.includes(parent);
    // Also notes an entry that is only read, because the code may change its value: `updates["rows"].append(...)`.
    found.push({ key, value: isStore && statement.value ? statement.value : parent });
  }
  return found;
}

/** Returns whether this use of a dict certainly adds no entries, except for those that `findStores` reads. */
function isSafeUse(program: Program, name: Node, parent: Node): boolean {
  if (parent.kind === "attribute") return /^(get|keys|values|items|copy)$/.test(parent.name);
  if (parent.kind !== "argument") return /^(subscript|binary|dict|format|for|comprehension|return)$/.test(parent.kind);
  const call = parent.parent;
  if (call?.kind !== "call" || parent.value !== name) return false;
  const isUpdate = call.callee.kind === "attribute" && call.callee.name === "update";
  const path = program.importPath(call.callee) ?? "";
  return isUpdate || /^(json\.dumps?|builtins\.(print|len|dict|sorted|list|str))$/.test(path);
}

interface PassedArguments {
  values: Expression[];
  /** True if `values` holds every value that the parameter can have. */
  isComplete: boolean;
}

/**
 * Collects the values that calls pass to a parameter. If the code passes on the function itself, the parameter may have
 * any value.
 */
export function argumentsFor(program: Program, { param, index, holder }: Origin & { kind: "param" }): PassedArguments {
  const method = isMethod(holder);
  const name = callableName(program, holder);
  if (name === undefined) return { values: [], isComplete: false };
  if (method && index === 0) return { values: [], isComplete: true };
  const values: Expression[] = param.fallback ? [param.fallback] : [];
  let all = param.stars === 0 && !method && holder.kind === "function" && holder.decorators.length === 0;
  const calls = callsTo(program, holder, name);
  all &&= program.loadsOf(name).length === calls.length;
  for (const { args } of calls) {
    const value = argumentOf(args, method ? index - 1 : index, param.id);
    if (value) values.push(value);
    all &&= args.every(({ stars }) => stars === 0);
  }
  return { values, isComplete: all };
}

function argumentOf(args: Call["args"], index: number, name: string): Expression | undefined {
  const named = args.find((argument) => argument.name === name);
  const placed = args[index];
  if (named) return named.value;
  return placed && placed.name === null && placed.stars === 0 ? placed.value : undefined;
}

function isMethod(holder: Callable): boolean {
  if (holder.kind === "lambda" || holder.parent?.parent?.kind !== "class") return false;
  return !holder.decorators.some((decorator) => decorator.kind === "name" && decorator.id === "staticmethod");
}

function callableName(program: Program, holder: Callable): string | undefined {
  if (holder.kind === "function") return holder.id;
  const { parent } = holder;
  if (parent?.kind !== "assign" || parent.targets.length !== 1) return undefined;
  const [target] = parent.targets;
  return target?.kind === "name" && program.functionOf({ ...target, stores: false }) === holder ? target.id : undefined;
}

/** Lists the calls of a function or method. A call of a class counts as a call of its `__init__`. */
function callsTo(program: Program, holder: Callable, name: string): readonly Call[] {
  const holdingClass = holder.kind === "function" ? holder.parent?.parent : null;
  if (holdingClass?.kind !== "class")
    return program.callsOf(name).filter(({ callee }) => program.functionOf(callee) === holder);
  if (name !== "__init__") return program.callsOf(`.${name}`);
  const own = program.callsOf("cls").filter((call) => isWithin(call, holdingClass));
  return [...program.callsOf(holdingClass.id), ...own];
}
