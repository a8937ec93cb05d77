import { type Call, once, type Program } from "../scope/program.ts";
import type { Origin } from "../scope/scopes.ts";
import { ancestorPairs, type Expression, isWithin, type Node } from "../tree/nodes.ts";
import type { Path, Paths } from "./paths.ts";

export interface Printed {
  /** True if the code may print a JSON object on a line of its own. */
  mayPrint: boolean;
  values: Expression[] | undefined;
}

const makers = /^json\.(dumps?|encoder\..*)$/;

export function readDumps(program: Program): { call: Call; value: Expression | undefined }[] {
  return program.nodes.flatMap((node) => {
    if (node.kind !== "call" || !makers.test(program.importPath(node.callee) ?? "")) return [];
    const named =
      node.args.find(({ name }) => name === "obj") ?? node.args.find(({ name, stars }) => name === null && stars === 0);
    return [{ call: node, value: named?.value }];
  });
}

/**
 * Finds the printed results. The text of a `json.dumps` counts as printed, unless the code certainly uses that text for
 * something else.
 */
export function readPrinted(program: Program): Printed {
  const uses = program.nodes.filter(
    (node) => (node.kind === "name" || node.kind === "attribute") && makers.test(program.importPath(node) ?? ""),
  );
  const all = readDumps(program);
  const isAll = all.length === uses.length && all.every(({ value }) => value);
  const dumps = all.filter(({ call, value }) => {
    return program.mayRun(call) && !goesElsewhere(program, call) && !(value && isNoObject(value));
  });
  const values = dumps.flatMap(({ value }) => value ?? []);
  return { mayPrint: !isAll || values.length > 0, values: isAll ? values : undefined };
}

/** Returns whether NOVA ignores a printed value, because the value is no JSON object or is an empty one. */
function isNoObject(value: Expression): boolean {
  if (value.kind === "dict") return value.entries.length === 0;
  if (value.kind === "comprehension") return value.form !== "dict";
  return /^(text|format|number|constant|list|tuple)$/.test(value.kind);
}

/**
 * Returns whether the text of `json.dumps` is certainly no printed result: it is written to a file, passed to a
 * library, or printed after other words.
 */
function goesElsewhere(program: Program, dump: Call): boolean {
  if (program.importPath(dump.callee) === "json.dump") return isNoStdout(program, dump.args[1]?.value);
  for (const [parent, child] of ancestorPairs(dump)) {
    if (parent.kind === "format" && parent.parts.some((part) => part !== null && part.trim() !== "")) return true;
    if (parent.kind === "call" && parent.callee !== child) return isKeptFromOutput(program, parent, child);
  }
  return false;
}

function isKeptFromOutput(program: Program, call: Call, argument: Node): boolean {
  const path = program.importPath(call.callee) ?? "";
  if (path !== "builtins.print") return /^(requests|urllib|httpx|hashlib|hmac|base64|pathlib|logging)\./.test(path);
  const isBehindWords = call.args[0] !== argument && call.args[0]?.stars === 0;
  const [file, separator] = ["file", "sep"].map((wanted) => call.args.find(({ name }) => name === wanted));
  return (file !== undefined && isNoStdout(program, file.value)) || (isBehindWords && !separator);
}

function isNoStdout(program: Program, file: Expression | undefined): boolean {
  const root = file && rootOf(program, file);
  return root !== undefined && !/^sys\.(__)?stdout/.test(root);
}

const deepest = 12;

const roots = new WeakMap<Program, (expression: Expression) => string | undefined>();

/**
 * Returns the path of the function that made a value: `psycopg.connect` for the cursor of a connection. `literal` for a
 * literal; undefined if unknown.
 */
export function rootOf(program: Program, expression: Expression): string | undefined {
  const find = roots.get(program) ?? once((one: Expression) => findRoot(program, one), deepest);
  roots.set(program, find);
  return find(expression);
}

const literals = /^(text|format|bytes|number|list|dict|set|tuple|comprehension)$/;

function findRoot(program: Program, expression: Expression): string | undefined {
  const path = program.importPath(expression);
  if (path !== undefined) return path;
  if (literals.test(expression.kind)) return "literal";
  const { kind } = expression;
  if (kind === "name") return rootOfName(program, expression);
  if (kind === "attribute" || kind === "subscript") return rootOf(program, expression.object);
  if (kind === "call") return rootOf(program, expression.callee);
  return kind === "await" || kind === "walrus" ? rootOf(program, expression.value) : undefined;
}

function rootOfName(program: Program, name: Expression & { kind: "name" }): string | undefined {
  const roots = new Set(program.reaching(name).map(({ origin }) => rootOfOrigin(program, origin)));
  const [root] = roots;
  return roots.size === 1 ? root : undefined;
}

function rootOfOrigin(program: Program, origin: Origin): string | undefined {
  if (origin.kind === "value" || origin.kind === "with") return rootOf(program, origin.value);
  if (origin.kind === "item" || origin.kind === "part") return rootOf(program, origin.of);
  return origin.kind === "handler" ? "builtins.Exception" : undefined;
}

/** A literal key of the context (or of a value in it) that the code looks up. */
export interface Read {
  path: Path;
  /** True if the code tolerates an absent key, as `.get()`, `in`, `pop(key, default)` and a `case` do. */
  optional: boolean;
  node: Node;
}

export function readReads({ nodes }: Program, paths: Paths): Read[] {
  return nodes.flatMap((node) => {
    // Counts a subscript that is read, and the target of `x["n"] += 1`, which reads the key before it sets it.
    if (node.kind === "subscript" && (!node.stores || node.parent?.kind === "augment"))
      return readKey(node.object, node.index, false, paths);
    if (node.kind === "call") return readMethodCall(node, paths);
    if (node.kind === "binary" && /^(not )?in$/.test(node.op))
      return readKey(keysOwner(node.right), node.left, true, paths);
    if (node.kind === "match") return readPatterns(node, paths);
    return [];
  });
}

function readKey(object: Expression, index: Expression, optional: boolean, paths: Paths): Read[] {
  const key = paths.key(index);
  const path = key === undefined || key === "[]" ? undefined : paths.of(object);
  return path && key !== undefined ? [{ path: [...path, key], optional, node: index }] : [];
}

function readMethodCall({ callee, args }: Expression & { kind: "call" }, paths: Paths): Read[] {
  const [first] = args;
  if (callee.kind !== "attribute" || !first || !/^(get|pop|setdefault|__contains__|__getitem__)$/.test(callee.name))
    return [];
  if (callee.name === "get") {
    const path = paths.pathOfGet(callee.object, first.value);
    return path && path.at(-1) !== "[]" ? [{ path, optional: true, node: first.value }] : [];
  }
  const isStrict = callee.name === "__getitem__" || (callee.name === "pop" && args.length === 1);
  return readKey(callee.object, first.value, !isStrict, paths);
}

/** Returns `x` for `x.keys()`, because `key in x.keys()` tests the same as `key in x`. */
export function keysOwner(expression: Expression): Expression {
  const callee = expression.kind === "call" ? expression.callee : null;
  return callee?.kind === "attribute" && callee.name === "keys" ? callee.object : expression;
}

function readPatterns(node: Node & { kind: "match" }, paths: Paths): Read[] {
  const path = paths.of(node.subject);
  if (!path) return [];
  const patterns = node.cases.flatMap(({ children }) => children.filter((child) => child.kind === "pattern"));
  return patterns.flatMap((one) => one.keys.map((key) => ({ path: [...path, key], optional: true, node: one })));
}

/** Returns whether `change` may run before `read`. A syntax node does not precede its own parts. */
export function mayPrecede(change: Node, read: Node): boolean {
  if (isWithin(read, change)) return false;
  if (change.from < read.from) return true;
  for (const [ancestor, child] of ancestorPairs(read)) {
    if (/^(function|lambda)$/.test(ancestor.kind)) return true;
    // A read in the iterable of a `for` precedes the body, because the loop evaluates its iterable only once.
    const isHead = ancestor.kind === "for" && ancestor.iterable === child;
    if (!isHead && /^(for|while|comprehension)$/.test(ancestor.kind) && isWithin(change, ancestor)) return true;
  }
  return false;
}
