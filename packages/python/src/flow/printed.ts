import type { Program } from "../scope/program.ts";
import { type Expression, type FunctionStatement, type Node, walk } from "../tree/nodes.ts";
import { rootOf } from "./roots.ts";

/** A call of `json.dumps` or `json.dump` by the code. */
interface Dump {
  call: Expression & { kind: "call" };
  /** What it makes JSON of. */
  value: Expression | undefined;
}

/** What the code may print as its result. */
export interface Printed {
  /** Whether some JSON object of the code may be printed on a line of its own. */
  mayPrint: boolean;
  /** The values of which it may be; undefined where one of them is not in sight. */
  values: Expression[] | undefined;
}

const makers = /^json\.(dumps?|encoder\..*)$/;

export function readDumps(program: Program): Dump[] {
  return program.nodes.flatMap((node) => {
    if (node.kind !== "call" || !makers.test(program.importPath(node.callee) ?? "")) return [];
    const named =
      node.args.find(({ name }) => name === "obj") ?? node.args.find(({ name, stars }) => name === null && stars === 0);
    return [{ call: node, value: named?.value }];
  });
}

export function readPrinted(program: Program): Printed {
  const nothing = { mayPrint: false, values: [] };
  const uses = program.nodes.filter(
    (node) => (node.kind === "name" || node.kind === "attribute") && makers.test(program.importPath(node) ?? ""),
  );
  if (uses.length === 0) return nothing;
  const flow = new DumpFlow(program, new Set(uses));
  const isPrinted = program.nodes.some((node) => program.mayRun(node) && flow.isSink(node));
  if (!isPrinted) return nothing;
  const dumps = readDumps(program);
  const isAll = dumps.length === uses.length && dumps.every(({ value }) => value);
  const values = dumps.flatMap(({ value }) => (value && !isNoObject(value) ? [value] : []));
  return { mayPrint: !isAll || values.length > 0, values: isAll ? values : undefined };
}

/** JSON of it is certainly no object, or an empty one, which is ignored. */
function isNoObject(value: Expression): boolean {
  if (value.kind === "dict") return value.entries.length === 0;
  if (value.kind === "comprehension") return value.form !== "dict";
  return /^(text|format|number|constant|list|tuple)$/.test(value.kind);
}

/** Follows the texts that `json.dumps` made through names, by the statements that mention them. */
class DumpFlow {
  readonly #program: Program;
  readonly #makers: ReadonlySet<Node>;
  readonly #names = new Set<string>();
  readonly #functions: readonly FunctionStatement[];

  constructor(program: Program, found: ReadonlySet<Node>) {
    this.#program = program;
    this.#makers = found;
    this.#functions = program.nodes.flatMap((node) => (node.kind === "function" ? [node] : []));
    for (let before = -1; before !== this.#names.size; ) {
      before = this.#names.size;
      for (const node of program.nodes) this.#spread(node);
    }
  }

  /** Whether the node writes such a text to stdout, alone on its line. */
  isSink(node: Node): boolean {
    if (node.kind !== "call") return this.#isPrintHandedOn(node);
    const path = this.#program.importPath(node.callee);
    if (path === "json.dump") return this.#isStdout(node.args[1]?.value);
    if (path === "builtins.print") return this.#isPrint(node);
    if (node.callee.kind === "attribute" && /^(write|writelines)$/.test(node.callee.name)) {
      return this.#isStdout(node.callee.object) && node.args.some(({ value }) => this.#has(value));
    }
    // Logging, and functions that nobody here knows.
    const isUnknown = path === undefined && !this.#program.functionOf(node.callee) && node.callee.kind === "name";
    return (isUnknown || this.#isForeign(path)) && node.args.some(({ value }) => this.#has(value));
  }

  #isForeign(path: string | undefined): boolean {
    return path !== undefined && /^(sys|functools|contextlib|__main__)\./.test(path);
  }

  #isPrintHandedOn(node: Node): boolean {
    if (node.kind !== "name" || node.stores || node.parent?.kind === "call") return false;
    return this.#program.importPath(node) === "builtins.print";
  }

  #isPrint({ args }: Expression & { kind: "call" }): boolean {
    const file = args.find(({ name }) => name === "file");
    if (file && !this.#isStdout(file.value)) return false;
    const placed = args.filter(({ name }) => name === null);
    const [first] = placed;
    if (!first || !placed.some(({ value }) => this.#has(value))) return false;
    const hasSeparator = args.some(({ name }) => name === "sep");
    return hasSeparator || first.stars > 0 || (this.#has(first.value) && !isWithinText(first.value));
  }

  /** In doubt, yes. */
  #isStdout(value: Expression | undefined): boolean {
    if (!value) return true;
    const root = rootOf(this.#program, value);
    return root === undefined || root.startsWith("sys.stdout") || root.startsWith("sys.__stdout");
  }

  #spread(node: Node): void {
    if (node.kind === "assign" && node.value && this.#has(node.value)) node.targets.map((each) => this.#mark(each));
    if (node.kind === "augment" && this.#has(node.value)) this.#mark(node.target);
    if (node.kind === "walrus" && this.#has(node.value)) this.#mark(node.target);
    if (node.kind === "for" && this.#has(node.iterable)) this.#mark(node.target);
    if (node.kind === "comprehension") {
      for (const { target, iterable } of node.loops) if (this.#has(iterable)) this.#mark(target);
    }
    if (node.kind === "call" && node.callee.kind === "attribute" && node.args.some(({ value }) => this.#has(value))) {
      if (!this.#stops(node.callee)) this.#mark(node.callee.object);
    }
    if (node.kind === "call") this.#spreadToParams(node);
    if ((node.kind === "return" || node.kind === "yield") && node.value && this.#has(node.value))
      this.#markHolder(node);
    if (node.kind === "lambda" && this.#has(node.body) && node.parent) this.#markHolder(node.body);
  }

  #spreadToParams(node: Expression & { kind: "call" }): void {
    if (!node.args.some(({ value }) => this.#has(value))) return;
    const called =
      node.callee.kind === "attribute" ? node.callee.name : node.callee.kind === "name" ? node.callee.id : undefined;
    for (const each of this.#functions) {
      if (each.id === called || each.id === "__init__") for (const { id } of each.params) this.#names.add(id);
    }
  }

  #mark(target: Expression): void {
    for (const node of walk(target)) {
      if (node.kind === "name") this.#names.add(node.id);
      if (node.kind === "attribute") this.#names.add(node.name);
    }
  }

  #markHolder(node: Node): void {
    for (let each = node.parent; each; each = each.parent) {
      if (each.kind === "function") this.#names.add(each.id);
      if (each.kind === "function") return;
    }
  }

  #has(expression: Expression): boolean {
    if (this.#makers.has(expression)) return true;
    if (expression.kind === "name") return this.#names.has(expression.id);
    if (expression.kind === "attribute" && this.#names.has(expression.name)) return true;
    if (expression.kind === "call" && this.#stops(expression.callee)) return false;
    return expression.children.some((child) => this.#has(child as Expression));
  }

  /** Functions of modules do not answer the text that they are given, but for those that work on texts. */
  #stops(callee: Expression): boolean {
    const root = rootOf(this.#program, callee);
    return root !== undefined && !/^(builtins|literal|json|textwrap|io|copy|functools|itertools|sys|re)\b/.test(root);
  }
}

/** `f"Result: {text}"` is never a result; a line break before it makes it one. */
function isWithinText(value: Expression): boolean {
  if (value.kind === "format") return value.parts.some((part) => part !== null && part.trim() !== "");
  const isSum = value.kind === "binary" && value.op === "+";
  return isSum && value.left.kind === "text" && !value.left.value.endsWith("\n") && value.left.value.trim() !== "";
}
