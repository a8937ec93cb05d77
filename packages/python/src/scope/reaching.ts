import { ancestors, isWithin, type Node } from "../tree/nodes.ts";
import type { Binding, Scope } from "./bindings.ts";
import { outsideOfComprehensions } from "./scopes.ts";

/** Statements whose bodies may run again. */
const loops = /^(for|while|comprehension)$/;

/**
 * The bindings that may hold at a use of a name. One that stands above, in the same block or one around it, and is the
 * last there hides the others, unless a loop can bring one of them back.
 */
export function reachingBindings(
  use: Node,
  bindings: readonly Binding[],
  scope: Scope | undefined,
): readonly Binding[] {
  if (bindings.length < 2 || !scope || bindings[0]?.scope !== outsideOfComprehensions(scope)) return bindings;
  const above = bindings.filter(({ node }) => node.from < use.from && !isWithin(use, bindingStatement(node)));
  const last = above.at(-1);
  if (!last || last.origin.kind === "augment" || !dominates(bindingStatement(last.node), use)) return bindings;
  const loop = outermostLoop(use, bindingStatement(last.node));
  if (loop && bindings.some(({ node }) => node.from > use.from && isWithin(node, loop))) return bindings;
  return [last];
}

/** The statement (or loop head) that does the binding. */
function bindingStatement(node: Node): Node {
  if (node.kind !== "name") return node;
  for (const ancestor of ancestors(node)) {
    if (/^(assign|augment|walrus|for|with|comprehension)$/.test(ancestor.kind)) return ancestor;
  }
  return node;
}

/** Whether the statement has always run when the use is reached: it stands in a block around it. */
function dominates(statement: Node, use: Node): boolean {
  if (!/^(assign|function|class|import)$/.test(statement.kind)) return false;
  const block = statement.parent;
  // Of a `try`, the handlers and `finally` may run without it; but they are not in its block.
  return block?.kind === "block" && isWithin(use, block);
}

/** The outermost loop around the use that does not hold the binding. */
function outermostLoop(use: Node, binding: Node): Node | undefined {
  let found: Node | undefined;
  for (const ancestor of ancestors(use)) {
    if (isWithin(binding, ancestor)) break;
    if (loops.test(ancestor.kind)) found = ancestor;
  }
  return found;
}

/** Names of functions at run time, by which any of them may be called. */
const dynamic = /\b(globals|locals|vars|getattr|exec|eval|__dict__|__main__|sys\.modules)\b/;

/**
 * The functions that may run: those that reached code names, methods of classes that it names, what a decorator is
 * given, and all where names are made at run time.
 */
export function reachedFunctions(program: { nodes: readonly Node[]; source: string }): Set<Node> {
  const functions = program.nodes.filter((node) => node.kind === "function");
  if (dynamic.test(program.source)) return new Set(functions);
  const names = Map.groupBy(program.nodes, (node) =>
    node.kind === "name" && !node.stores ? node.id : node.kind === "attribute" ? node.name : undefined,
  );
  const reached = new Set<Node>();
  for (let before = -1; before !== reached.size; ) {
    before = reached.size;
    for (const node of functions) {
      const isNamed = () => names.get(node.id)?.some((use) => !isWithin(use, node) && runs(use, reached));
      if (!reached.has(node) && (isImplicit(node) || isNamed())) reached.add(node);
    }
  }
  return reached;
}

/** Decorated functions are handed on; a class's own methods may run whenever it is used. */
function isImplicit(node: Node & { kind: "function" }): boolean {
  return node.decorators.length > 0 || node.parent?.parent?.kind === "class";
}

/** Whether the code at a node may run: functions that nothing names never do. */
export function runs(use: Node, reached: ReadonlySet<Node>): boolean {
  for (let each: Node | null = use.parent; each; each = each.parent) {
    if (each.kind === "function" && !reached.has(each)) return false;
  }
  return true;
}
