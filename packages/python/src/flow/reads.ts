import type { Program } from "../scope/program.ts";
import { ancestorPairs, type Expression, isWithin, type Node } from "../tree/nodes.ts";
import type { Path, Paths } from "./paths.ts";

/** A literal key of the context (or of a value in it) that the code looks up. */
export interface Read {
  path: Path;
  /** The code tolerates an absent key: `.get()`, `in`, `pop(key, default)`, a `case`. */
  optional: boolean;
  node: Node;
}

export function readReads({ nodes }: Program, paths: Paths): Read[] {
  return nodes.flatMap((node) => {
    // `x["n"] += 1` reads the key first.
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

/** `key in x.keys()` is the same as `key in x`. */
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

/** Whether `change` may run before `read`. A node does not precede its own parts. */
export function mayPrecede(change: Node, read: Node): boolean {
  if (isWithin(read, change)) return false;
  if (change.from < read.from) return true;
  for (const [ancestor, child] of ancestorPairs(read)) {
    if (/^(function|lambda)$/.test(ancestor.kind)) return true;
    // A loop evaluates its iterable once, before its body.
    const isHead = ancestor.kind === "for" && ancestor.iterable === child;
    if (!isHead && /^(for|while|comprehension)$/.test(ancestor.kind) && isWithin(change, ancestor)) return true;
  }
  return false;
}
