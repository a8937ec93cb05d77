import { isWithin, type Node } from "../tree/nodes.ts";

/** Names of functions at run time, by which any of them may be called. */
const dynamic = /\b(globals|locals|vars|getattr|exec|eval|__dict__|__main__|sys\.modules)\b/;

/**
 * The functions that may run: those that reached code names, methods of classes that it names, what a decorator is
 * given, and all where names are made at run time.
 */
export function reachedFunctions(program: { nodes: readonly Node[]; source: string }): Set<Node> {
  const functions = program.nodes.filter((node) => node.kind === "function");
  if (dynamic.test(program.source)) return new Set(functions);
  const names = new Map<string, Node[]>();
  for (const node of program.nodes) {
    const name = node.kind === "name" && !node.stores ? node.id : node.kind === "attribute" ? node.name : undefined;
    if (name === undefined) continue;
    const uses = names.get(name);
    if (uses) uses.push(node);
    else names.set(name, [node]);
  }
  const reached = new Set<Node>();
  for (let before = -1; before !== reached.size; ) {
    before = reached.size;
    for (const node of functions) {
      if (!reached.has(node) && (isImplicit(node) || isNamed(node, names, reached))) reached.add(node);
    }
  }
  return reached;
}

/** Decorated functions are handed on; a class's own methods may run whenever it is used. */
function isImplicit(node: Node & { kind: "function" }): boolean {
  return node.decorators.length > 0 || node.parent?.parent?.kind === "class";
}

function isNamed(node: Node & { kind: "function" }, names: Map<string, Node[]>, reached: Set<Node>): boolean {
  return (names.get(node.id) ?? []).some((use) => !isWithin(use, node) && runs(use, reached));
}

function runs(use: Node, reached: Set<Node>): boolean {
  for (let each: Node | null = use.parent; each; each = each.parent) {
    if (each.kind === "function" && !reached.has(each)) return false;
  }
  return true;
}
