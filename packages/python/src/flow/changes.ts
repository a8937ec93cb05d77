import { changingMethods, copyMethods, leavesArguments, partMethods, pureMethods } from "../known/functions.ts";
import type { Call, Program } from "../scope/program.ts";
import type { ContextShape } from "../shape.ts";
import type { Expression, Node } from "../tree/nodes.ts";
import { knownEntries, type Path, type Paths } from "./paths.ts";
import { rootOf } from "./printed.ts";
import { createReach, maybePart, unrelated } from "./reach.ts";

export interface Change {
  /** `any`: the value at the path, and everything below it, may change. */
  kind: "set" | "delete" | "any";
  path: Path | undefined;
  /** The literal key that is set, if `kind` is `any` and the path of its dict is unknown. */
  key?: string;
  /**
   * The expression that is assigned to the key (for `any`: to some key below the path). Absent if the code does not
   * spell it out.
   */
  value?: Expression;
  node: Node;
}

/** Functions that can reach the context without naming it. */
const dynamic =
  /^(builtins\.(exec|eval|globals|locals|vars|compile|getattr|__import__)|sys\._getframe)$|^(importlib|inspect|__main__|ctypes|gc)\b/;

/**
 * Returns whether this syntax node may change the context or print a result in a way that the other checks cannot see.
 */
export function hasHiddenEffect(program: Program, node: Node): boolean {
  if (node.kind === "import") return /^(__main__|inspect)\b/.test(node.module ?? node.names[0]?.path ?? "");
  if (node.kind === "text") return node.value === "__main__" && node.parent?.kind !== "binary";
  const path = node.kind === "call" ? program.importPath(node.callee) : undefined;
  return node.kind === "call" && path !== undefined && dynamic.test(path) && !isSafeDynamic(node, path);
}

/**
 * Lists the changes that the code may make to the context. `shape` has the keys and types of the context, as far as
 * they are known.
 */
export function readChanges(program: Program, paths: Paths, shape: ContextShape | undefined): Change[] {
  const reach = createReach(program, paths, shape);
  const found: Change[] = [];
  for (const node of program.nodes) if (program.mayRun(node)) readNode(node);
  return found;

  function readNode(node: Node): void {
    if (node.kind === "assign") for (const target of node.targets) readStore(target, node, node.value ?? undefined);
    if (node.kind === "for") readStore(node.target, node.target);
    if (node.kind === "with") for (const { target } of node.items) if (target) readStore(target, target);
    if (node.kind === "delete") for (const target of node.targets) readDelete(target, node);
    if (node.kind === "augment") readAugment(node);
    if (node.kind === "call") readCall(node);
    if (node.kind === "attribute") readBoundMethod(node);
    if (hasHiddenEffect(program, node)) found.push(unknownChange(node));
  }

  function readStore(target: Expression, node: Node, value?: Expression): void {
    if (target.kind === "tuple" || target.kind === "list") {
      const values = value?.kind === "tuple" || value?.kind === "list" ? value.items : [];
      for (const [index, item] of target.items.entries()) readStore(item, node, values[index]);
    }
    if (target.kind === "star") readStore(target.value, node);
    if (target.kind === "subscript" && reach(target.object) === maybePart) {
      noteStore(target.object, target.index, node, value);
    }
  }

  function noteStore(object: Expression, index: Expression, node: Node, value?: Expression): void {
    const path = paths.of(object);
    const key = paths.key(index);
    if (!path || key === undefined || key === "[]")
      found.push({ kind: "any", path, node, ...(value && { value }), ...(key && { key }) });
    else found.push({ kind: "set", path: [...path, key], node, ...(value && { value }) });
  }

  function readDelete(target: Expression, node: Node): void {
    if (target.kind === "tuple" || target.kind === "list") for (const item of target.items) readDelete(item, node);
    if (target.kind !== "subscript" || reach(target.object) !== maybePart) return;
    noteRemoval(target.object, target.index, node);
  }

  function noteRemoval(object: Expression, index: Expression, node: Node): void {
    const path = paths.of(object);
    const key = paths.key(index);
    if (path && key !== undefined) found.push({ kind: "delete", path: [...path, key], node });
    else found.push({ kind: "any", path, node });
  }

  function readAugment(node: Node & { kind: "augment" }): void {
    const { target, op, value } = node;
    if (target.kind === "subscript") readStore(target, node);
    // `+=` changes a list in place, and therefore changes the context. For a number or a text, `+=` makes a new value.
    const isMutable = /^(\+|\||\*)=$/.test(op) && !/^(number|text|format)$/.test(value.kind);
    if (target.kind !== "name" || !isMutable || reach(target) !== maybePart) return;
    const path = paths.of({ ...target, stores: false }) ?? (target.id === "context" ? [] : undefined);
    if (path && /^(dict|name|call)$/.test(value.kind)) noteEntries(path, value, node);
    else found.push({ kind: "any", path, node });
  }

  function noteEntries(path: Path, dict: Expression, node: Node): void {
    const known = knownEntries(program, dict);
    for (const { key, value } of known ?? []) found.push({ kind: "set", path: [...path, key], value, node });
    if (known) return;
    // Some entries of the dict are unknown. So any key may change, in addition to the keys that the code spells out.
    const spelt = dict.kind === "dict" ? dict.entries : [];
    for (const { key, value } of spelt) {
      const name = key ? paths.key(key) : undefined;
      if (name !== undefined) found.push({ kind: "set", path: [...path, name], value, node });
    }
    found.push({ kind: "any", path, node });
  }

  function readCall(node: Call): void {
    const { callee } = node;
    const path = program.importPath(callee);
    if (path === undefined && callee.kind === "attribute" && reach(callee.object) === maybePart) {
      readMethod(node, callee);
      return;
    }
    if (path === undefined && callee.kind === "name" && reach(callee) === maybePart) {
      found.push(unknownChange(node));
    } else if (!isHarmless(node, path)) noteHandOver(node);
  }

  /**
   * Notes a method that is passed on without a call, as in `map(context["log"].append, lines)`: it may change the
   * context later.
   */
  function readBoundMethod(node: Node & { kind: "attribute" }): void {
    const isCalled = node.parent?.kind === "call" && node.parent.callee === node;
    if (isCalled || !changingMethods.has(node.name) || reach(node.object) !== maybePart) return;
    found.push(unknownChange(node));
  }

  function readMethod(node: Call, callee: Expression & { kind: "attribute" }): void {
    const { args } = node;
    const path = paths.of(callee.object);
    const [first, second] = args.map(({ value }) => value);
    const { name } = callee;
    if (!changingMethods.has(name)) {
      const isKnown = pureMethods.has(name) || partMethods.has(name) || copyMethods.has(name);
      if (!isKnown && !isLocalMethod(name)) found.push({ kind: "any", path, node });
    } else if (first && (name === "setdefault" || name === "__setitem__"))
      noteStore(callee.object, first, node, second);
    else if (first && (name === "pop" || name === "__delitem__")) noteRemoval(callee.object, first, node);
    else if (path && (name === "update" || name === "__ior__")) readUpdate(path, node);
    else if (name === "clear" && path) found.push({ kind: "delete", path, node });
    else {
      const added = name === "append" && first ? { value: first } : {};
      found.push({ kind: "any", path, node, ...added });
    }
  }

  function readUpdate(path: Path, node: Call): void {
    for (const { name, stars, value } of node.args) {
      if (name !== null) found.push({ kind: "set", path: [...path, name], value, node });
      else if (stars !== 1) noteEntries(path, value, node);
      else found.push({ kind: "any", path, node });
    }
  }

  /**
   * Returns whether a call is no change by itself: either its function does not change its arguments, or the code
   * defines the function, so that the changes inside it are found.
   */
  function isHarmless({ callee }: Call, path: string | undefined): boolean {
    if (program.functionOf(callee) || program.classOf(callee) || program.isOwnClass(callee)) return true;
    if (path !== undefined) return leavesArguments(path);
    if (callee.kind === "name" && rootOf(program, callee) === "collections.namedtuple") return true;
    if (callee.kind !== "attribute") return false;
    if (isLocalMethod(callee.name)) return true;
    // Handles `dict.update(context, ...)` like `context.update(...)`.
    const owner = program.importPath(callee.object) ?? "";
    if (owner.startsWith("builtins.") && changingMethods.has(callee.name)) return false;
    const root = rootOf(program, callee.object);
    const isContainer = [changingMethods, pureMethods, partMethods].some((methods) => methods.has(callee.name));
    return root === "literal" || leavesArguments(root) || isContainer;
  }

  function isLocalMethod(name: string): boolean {
    return program.nodes.some(
      (node) => node.kind === "function" && node.id === name && node.parent?.parent?.kind === "class",
    );
  }

  function noteHandOver(node: Call): void {
    for (const { value } of node.args) {
      const nearness = reach(value);
      if (nearness === unrelated) continue;
      const path = nearness === maybePart ? paths.of(value) : undefined;
      found.push({ kind: "any", path, node });
    }
  }
}

function unknownChange(node: Node): Change {
  return { kind: "any", path: undefined, node };
}

/**
 * Returns whether a dynamic call cannot touch the context, such as `exec(text, scope)`, `"name" in globals()`,
 * `vars(row)` and `import_module("csv")`.
 */
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
