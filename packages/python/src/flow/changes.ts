import { changingMethods, copyMethods, leavesArguments, partMethods, pureMethods } from "../known/functions.ts";
import type { Call, Program } from "../scope/program.ts";
import type { ContextShape } from "../shape.ts";
import type { Expression, Node } from "../tree/nodes.ts";
import { knownEntries, type Path, type Paths } from "./paths.ts";
import { rootOf } from "./printed.ts";
import { maybePart, Reach, unrelated } from "./reach.ts";

export interface Change {
  /** `any`: the value at the path, and everything below it, may change. */
  kind: "set" | "delete" | "any";
  path: Path | undefined;
  /** For `any` without a path: the literal key that is set. */
  key?: string;
  /** The expression that the key (for `any`: some key below the path) is set to, if the code spells it out. */
  value?: Expression;
  node: Node;
}

/** Functions that can reach the context without naming it. */
const dynamic =
  /^(builtins\.(exec|eval|globals|locals|vars|compile|getattr|__import__)|sys\._getframe)$|^(importlib|inspect|__main__|ctypes|gc)\b/;

/** Whether the node may change the context or print a result in a way that the other checks cannot see. */
export function hasHiddenEffect(program: Program, node: Node): boolean {
  if (node.kind === "import") return /^(__main__|inspect)\b/.test(node.module ?? node.names[0]?.path ?? "");
  if (node.kind === "text") return node.value === "__main__" && node.parent?.kind !== "binary";
  const path = node.kind === "call" ? program.importPath(node.callee) : undefined;
  return node.kind === "call" && path !== undefined && dynamic.test(path) && !isSafeDynamic(node, path);
}

/** Lists the changes of the context. `shape` is what is known of the context. */
export function readChanges(program: Program, paths: Paths, shape: ContextShape | undefined): Change[] {
  const reader = new ChangeReader(program, paths, new Reach(program, paths, shape));
  for (const node of program.nodes) if (program.mayRun(node)) reader.read(node);
  return reader.found;
}

function unknownChange(node: Node): Change {
  return { kind: "any", path: undefined, node };
}

/** `exec(text, scope)`, `"name" in globals()`, `vars(row)` and `import_module("csv")` do not touch the context. */
function isSafeDynamic({ args, parent }: Call, path: string): boolean {
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
    if (node.kind === "delete") for (const target of node.targets) this.#delete(target, node);
    if (node.kind === "augment") this.#augment(node);
    if (node.kind === "call") this.#call(node);
    if (node.kind === "attribute") this.#boundMethod(node);
    if (hasHiddenEffect(this.#program, node)) this.found.push(unknownChange(node));
  }

  #store(target: Expression, node: Node, value?: Expression): void {
    if (target.kind === "tuple" || target.kind === "list") {
      const values = value?.kind === "tuple" || value?.kind === "list" ? value.items : [];
      for (const [index, item] of target.items.entries()) this.#store(item, node, values[index]);
    }
    if (target.kind === "star") this.#store(target.value, node);
    if (target.kind === "subscript" && this.#reach.of(target.object) === maybePart) {
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

  #delete(target: Expression, node: Node): void {
    if (target.kind === "tuple" || target.kind === "list") for (const item of target.items) this.#delete(item, node);
    if (target.kind !== "subscript" || this.#reach.of(target.object) !== maybePart) return;
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
    // `+=` changes a list in place; a number or text becomes a new value.
    const isMutable = /^(\+|\||\*)=$/.test(op) && !/^(number|text|format)$/.test(value.kind);
    if (target.kind !== "name" || !isMutable || this.#reach.of(target) !== maybePart) return;
    const path = this.#paths.of({ ...target, stores: false }) ?? (target.id === "context" ? [] : undefined);
    if (path && /^(dict|name|call)$/.test(value.kind)) this.#entries(path, value, node);
    else this.found.push({ kind: "any", path, node });
  }

  #entries(path: Path, dict: Expression, node: Node): void {
    const known = knownEntries(this.#program, dict);
    for (const { key, value } of known ?? []) this.found.push({ kind: "set", path: [...path, key], value, node });
    if (known) return;
    // The dict has unknown entries as well.
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
    if (path === undefined && callee.kind === "attribute" && this.#reach.of(callee.object) === maybePart) {
      this.#method(node, callee);
      return;
    }
    if (path === undefined && callee.kind === "name" && this.#reach.of(callee) === maybePart) {
      this.found.push(unknownChange(node));
    } else if (!this.#isHarmless(node, path)) this.#handOver(node);
  }

  /** `map(context["log"].append, lines)` passes the method to other code. */
  #boundMethod(node: Node & { kind: "attribute" }): void {
    const isCalled = node.parent?.kind === "call" && node.parent.callee === node;
    if (isCalled || !changingMethods.has(node.name) || this.#reach.of(node.object) !== maybePart) return;
    this.found.push(unknownChange(node));
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

  /** Whether the called function does not change its arguments, or is in the code itself. */
  #isHarmless({ callee }: Call, path: string | undefined): boolean {
    if (this.#program.functionOf(callee) || this.#program.classOf(callee) || this.#program.isOwnClass(callee))
      return true;
    if (path !== undefined) return leavesArguments(path);
    if (callee.kind === "name" && rootOf(this.#program, callee) === "collections.namedtuple") return true;
    if (callee.kind !== "attribute") return false;
    if (this.#isLocalMethod(callee.name)) return true;
    // `dict.update(context, ...)` changes the context as `context.update(...)` does.
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
      if (nearness === unrelated) continue;
      const path = nearness === maybePart ? this.#paths.of(value) : undefined;
      this.found.push({ kind: "any", path, node });
    }
  }
}
