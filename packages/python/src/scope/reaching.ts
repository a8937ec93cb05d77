import { ancestors, isWithin, type Node } from "../tree/nodes.ts";
import type { Binding, Scope } from "./bindings.ts";
import { outsideOfComprehensions } from "./scopes.ts";

/** Statements whose bodies may run again. */
const loops = /^(for|while|comprehension)$/;

/**
 * Filters the bindings that may be current at a use of a name. The last binding above the use, in the same or an
 * enclosing block, hides the others, unless a loop can bring one of them back.
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

/** The statement (or loop head) that contains the binding. */
function bindingStatement(node: Node): Node {
  if (node.kind !== "name") return node;
  for (const ancestor of ancestors(node)) {
    if (/^(assign|augment|walrus|for|with|comprehension)$/.test(ancestor.kind)) return ancestor;
  }
  return node;
}

/** Whether the statement has always run when `use` runs: its block encloses the use. */
function dominates(statement: Node, use: Node): boolean {
  if (!/^(assign|function|class|import)$/.test(statement.kind)) return false;
  const block = statement.parent;
  // A handler or `finally` can run without the `try` body, but lies outside its block.
  return block?.kind === "block" && isWithin(use, block);
}

/** The outermost loop around `use` that does not contain `binding`. */
function outermostLoop(use: Node, binding: Node): Node | undefined {
  let found: Node | undefined;
  for (const ancestor of ancestors(use)) {
    if (isWithin(binding, ancestor)) break;
    if (loops.test(ancestor.kind)) found = ancestor;
  }
  return found;
}

/** Ways to call a function by a name that is computed at run time. */
const dynamic = /\b(globals|locals|vars|getattr|exec|eval|__dict__|__main__|sys\.modules)\b/;

/**
 * Finds the functions that may run: those that other running code names, methods of classes, and decorated functions.
 * If the code computes names at run time, all of them.
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

/** A decorator may call its function, and using a class may call its methods. */
function isImplicit(node: Node & { kind: "function" }): boolean {
  return node.decorators.length > 0 || node.parent?.parent?.kind === "class";
}

/** Whether the code at a node may run. It does not if it is in a function that is never named. */
export function runs(use: Node, reached: ReadonlySet<Node>): boolean {
  for (let each: Node | null = use.parent; each; each = each.parent) {
    if (each.kind === "function" && !reached.has(each)) return false;
  }
  return true;
}
