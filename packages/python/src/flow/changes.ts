import { changingMethods, copyMethods, leavesArguments, partMethods, pureMethods } from "../known/functions.ts";
import type { Call, Program } from "../scope/program.ts";
import type { ContextShape } from "../shape.ts";
import type { Expression, Node } from "../tree/nodes.ts";
import { knownEntries } from "./dicts.ts";
import type { Path, Paths } from "./paths.ts";
import { is, none, Reach } from "./reach.ts";
import { rootOf } from "./roots.ts";

/** Something in the code that changes the context, or may. */
export interface Change {
  /** `any`: whatever is at the path or below it may become anything. */
  kind: "set" | "delete" | "any";
  /** Undefined: nobody knows which part of the context. */
  path: Path | undefined;
  /** Of `any` where the path is not known: the key that is set in it, where the code says it. */
  key?: string;
  /** What a key (of `any`: some key below the path) is set to, where the code says it. */
  value?: Expression;
  node: Node;
}

/** Functions by which code reaches the context without naming it. */
const dynamic =
  /^(builtins\.(exec|eval|globals|locals|vars|compile|getattr|__import__)|sys\._getframe)$|^(importlib|inspect|__main__|ctypes|gc)\b/;

/** Whether code may reach the context here, or print a result, in a way that nothing else of this package sees. */
export function actsUnseen(program: Program, node: Node): boolean {
  if (node.kind === "import") return /^(__main__|inspect)\b/.test(node.module ?? node.names[0]?.path ?? "");
  if (node.kind === "text") return node.value === "__main__" && node.parent?.kind !== "binary";
  const path = node.kind === "call" ? program.importPath(node.callee) : undefined;
  return node.kind === "call" && path !== undefined && dynamic.test(path) && !isApart(node, path);
}

/** `shape`: as far as the context is known. */
export function readChanges(program: Program, paths: Paths, shape: ContextShape | undefined): Change[] {
  const reader = new ChangeReader(program, paths, new Reach(program, paths, shape));
  for (const node of program.nodes) if (program.mayRun(node)) reader.read(node);
  return reader.found;
}

function anywhere(node: Node): Change {
  return { kind: "any", path: undefined, node };
}

/** `exec(text, scope)`, `"name" in globals()`, `vars(row)` and `import_module("csv")` leave the context alone. */
function isApart({ args, parent }: Call, path: string): boolean {
  const [first, second] = args;
  if (path === "builtins.getattr") return second?.value.kind === "text" && !changingMethods.has(second.value.value);
  if (path === "builtins.vars") return first?.value.kind === "name";
  if (/^(builtins\.__import__$|importlib\b)/.test(path) && first) {
    return first.value.kind === "text" && first.value.value !== "__main__";
  }
  if (/^builtins\.(exec|eval)$/.test(path)) return second?.value.kind === "name";
  return parent?.kind === "binary" && /^(not )?in$/.test(parent.op);
}

class ChangeReader {
  readonly #program: Program;
  readonly #paths: Paths;
  readonly #reach: Reach;
  readonly found: Change[] = [];

  constructor(program: Program, paths: Paths, reach: Reach) {
    this.#program = program;
    this.#paths = paths;
    this.#reach = reach;
  }

  read(node: Node): void {
    if (node.kind === "assign") for (const target of node.targets) this.#store(target, node, node.value ?? undefined);
    if (node.kind === "for") this.#store(node.target, node.target);
    if (node.kind === "with") for (const { target } of node.items) if (target) this.#store(target, target);
    if (node.kind === "delete") for (const target of node.targets) this.#take(target, node);
    if (node.kind === "augment") this.#augment(node);
    if (node.kind === "call") this.#call(node);
    if (node.kind === "attribute") this.#boundMethod(node);
    if (actsUnseen(this.#program, node)) this.found.push(anywhere(node));
  }

  #store(target: Expression, node: Node, value?: Expression): void {
    if (target.kind === "tuple" || target.kind === "list") {
      const values = value?.kind === "tuple" || value?.kind === "list" ? value.items : [];
      for (const [index, item] of target.items.entries()) this.#store(item, node, values[index]);
    }
    if (target.kind === "star") this.#store(target.value, node);
    if (target.kind === "subscript" && this.#reach.of(target.object) === is) {
      this.#put(target.object, target.index, node, value);
    }
  }

  #put(object: Expression, index: Expression, node: Node, value?: Expression): void {
    const path = this.#paths.of(object);
    const key = this.#paths.key(index);
    if (!path || key === undefined || key === "[]")
      this.found.push({ kind: "any", path, node, ...(value && { value }), ...(key && { key }) });
    else this.found.push({ kind: "set", path: [...path, key], node, ...(value && { value }) });
  }

  #take(target: Expression, node: Node): void {
    if (target.kind === "tuple" || target.kind === "list") for (const item of target.items) this.#take(item, node);
    if (target.kind !== "subscript" || this.#reach.of(target.object) !== is) return;
    this.#remove(target.object, target.index, node);
  }

  #remove(object: Expression, index: Expression, node: Node): void {
    const path = this.#paths.of(object);
    const key = this.#paths.key(index);
    if (path && key !== undefined) this.found.push({ kind: "delete", path: [...path, key], node });
    else this.found.push({ kind: "any", path, node });
  }

  #augment(node: Node & { kind: "augment" }): void {
    const { target, op, value } = node;
    if (target.kind === "subscript") this.#store(target, node);
    // `+=` changes a list in place; numbers and texts become new ones.
    const isMutable = /^(\+|\||\*)=$/.test(op) && !/^(number|text|format)$/.test(value.kind);
    if (target.kind !== "name" || !isMutable || this.#reach.of(target) !== is) return;
    const path = this.#paths.of({ ...target, stores: false }) ?? (target.id === "context" ? [] : undefined);
    if (path && /^(dict|name|call)$/.test(value.kind)) this.#entries(path, value, node);
    else this.found.push({ kind: "any", path, node });
  }

  #entries(path: Path, dict: Expression, node: Node): void {
    const known = knownEntries(this.#program, dict);
    for (const { key, value } of known ?? []) this.found.push({ kind: "set", path: [...path, key], value, node });
    if (known) return;
    // Of a dict with other entries too, those that are spelt out.
    const spelt = dict.kind === "dict" ? dict.entries : [];
    for (const { key, value } of spelt) {
      const name = key ? this.#paths.key(key) : undefined;
      if (name !== undefined) this.found.push({ kind: "set", path: [...path, name], value, node });
    }
    this.found.push({ kind: "any", path, node });
  }

  #call(node: Call): void {
    const { callee } = node;
    const path = this.#program.importPath(callee);
    if (path === undefined && callee.kind === "attribute" && this.#reach.of(callee.object) === is) {
      this.#method(node, callee);
      return;
    }
    if (path === undefined && callee.kind === "name" && this.#reach.of(callee) === is) {
      this.found.push(anywhere(node));
    } else if (!this.#isHarmless(node, path)) this.#handOver(node);
  }

  /** `map(context["log"].append, lines)`: the method is handed on. */
  #boundMethod(node: Node & { kind: "attribute" }): void {
    const isCalled = node.parent?.kind === "call" && node.parent.callee === node;
    if (isCalled || !changingMethods.has(node.name) || this.#reach.of(node.object) !== is) return;
    this.found.push(anywhere(node));
  }

  #method(node: Call, callee: Expression & { kind: "attribute" }): void {
    const { args } = node;
    const path = this.#paths.of(callee.object);
    const [first, second] = args.map(({ value }) => value);
    const { name } = callee;
    if (!changingMethods.has(name)) {
      const isKnown = pureMethods.has(name) || partMethods.has(name) || copyMethods.has(name);
      if (!isKnown && !this.#isLocalMethod(name)) this.found.push({ kind: "any", path, node });
    } else if (first && (name === "setdefault" || name === "__setitem__"))
      this.#put(callee.object, first, node, second);
    else if (first && (name === "pop" || name === "__delitem__")) this.#remove(callee.object, first, node);
    else if (path && (name === "update" || name === "__ior__")) this.#update(path, node);
    else if (name === "clear" && path) this.found.push({ kind: "delete", path, node });
    else {
      const added = name === "append" && first ? { value: first } : {};
      this.found.push({ kind: "any", path, node, ...added });
    }
  }

  #update(path: Path, node: Call): void {
    for (const { name, stars, value } of node.args) {
      if (name !== null) this.found.push({ kind: "set", path: [...path, name], value, node });
      else if (stars !== 1) this.#entries(path, value, node);
      else this.found.push({ kind: "any", path, node });
    }
  }

  /** Whether what is called leaves its arguments alone, or is code that is read itself. */
  #isHarmless({ callee }: Call, path: string | undefined): boolean {
    if (this.#program.functionOf(callee) || this.#program.classOf(callee) || this.#program.isOwnClass(callee))
      return true;
    if (path !== undefined) return leavesArguments(path);
    if (callee.kind === "name" && rootOf(this.#program, callee) === "collections.namedtuple") return true;
    if (callee.kind !== "attribute") return false;
    if (this.#isLocalMethod(callee.name)) return true;
    // `dict.update(context, ...)` is the method in another dress.
    const owner = this.#program.importPath(callee.object) ?? "";
    if (owner.startsWith("builtins.") && changingMethods.has(callee.name)) return false;
    const root = rootOf(this.#program, callee.object);
    const isContainer = [changingMethods, pureMethods, partMethods].some((methods) => methods.has(callee.name));
    return root === "literal" || leavesArguments(root) || isContainer;
  }

  #isLocalMethod(name: string): boolean {
    return this.#program.nodes.some(
      (node) => node.kind === "function" && node.id === name && node.parent?.parent?.kind === "class",
    );
  }

  #handOver(node: Call): void {
    for (const { value } of node.args) {
      const nearness = this.#reach.of(value);
      if (nearness === none) continue;
      const path = nearness === is ? this.#paths.of(value) : undefined;
      this.found.push({ kind: "any", path, node });
    }
  }
}
