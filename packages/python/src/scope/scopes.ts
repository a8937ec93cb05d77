import type { Block, Expression, Identifier, Node } from "../tree/nodes.ts";
import { type Origin, type Scope, targetNames } from "./bindings.ts";

export interface Scopes {
  module: Scope;
  /** The scope in which the lookup of each name starts. */
  of: Map<Node, Scope>;
}

/** Names that NOVA provides to a node's code. */
const providedNames: Record<string, Origin> = {
  context: { kind: "provided" },
  outputs: { kind: "provided" },
  tasks: { kind: "provided" },
  json: { kind: "import", path: "json" },
  base64: { kind: "import", path: "base64" },
};

export function readScopes(tree: Block): Scopes {
  const scopes: Scopes = { module: newScope(tree, null), of: new Map() };
  for (const [name, origin] of Object.entries(providedNames)) bind(scopes.module, name, origin, tree);
  visit(tree, scopes.module, scopes);
  return scopes;
}

function newScope(node: Node, parent: Scope | null): Scope {
  return { node, parent, isClass: node.kind === "class", bindings: new Map(), elsewhere: new Map() };
}

function bind(scope: Scope, name: string, origin: Origin, node: Node, from = node.from): void {
  const owner = ownerOf(scope, name);
  const known = owner.bindings.get(name);
  const binding = { name, scope: owner, origin, node, from };
  if (known) known.push(binding);
  else owner.bindings.set(name, [binding]);
}

/** The scope that owns a name which is bound in `scope`. */
function ownerOf(scope: Scope, name: string): Scope {
  const word = scope.elsewhere.get(name);
  if (word === undefined || !scope.parent) return scope;
  if (word === "nonlocal") return ownerOf(scope.parent, name);
  let module = scope;
  while (module.parent) module = module.parent;
  return module;
}

function visit(node: Node, scope: Scope, scopes: Scopes): void {
  scopes.of.set(node, scope);
  bindNode(node, scope);
  if (node.kind === "function" || node.kind === "lambda") {
    visitFunction(node, scope, scopes);
    return;
  }
  const inner = node.kind === "class" || node.kind === "comprehension" ? newScope(node, scope) : scope;
  if (node.kind === "comprehension") {
    for (const { target, iterable } of node.loops) bindTargets(inner, target, { kind: "item", of: iterable });
  }
  for (const child of node.children) visit(child, inner, scopes);
}

/** Python evaluates decorators, defaults and annotations outside the function. */
function visitFunction(node: Node & { kind: "function" | "lambda" }, scope: Scope, scopes: Scopes): void {
  const inner = newScope(node, scope);
  for (const [index, param] of node.params.entries()) {
    bind(inner, param.id, { kind: "param", param, index, holder: node }, param);
  }
  declareElsewhere(node.body, inner);
  for (const child of node.children) visit(child, child === node.body ? inner : scope, scopes);
}

/** `global x` applies to the whole function, also above its line. */
function declareElsewhere(body: Node, scope: Scope): void {
  const waiting: Node[] = [body];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.kind === "scope") for (const name of node.names) scope.elsewhere.set(name, node.word);
    if (!/^(function|class|lambda)$/.test(node.kind)) waiting.push(...node.children);
  }
}

function bindTargets(scope: Scope, target: Expression, origin: Origin): void {
  for (const { node, origin: found } of targetNames(target, origin)) {
    if (node.kind === "name") bind(scope, node.id, found, node);
  }
}

function bindNode(node: Node, scope: Scope): void {
  if (node.kind === "assign") {
    const origin: Origin = node.value ? { kind: "value", value: node.value } : { kind: "declared" };
    for (const target of node.targets) bindTargets(scope, target, origin);
  }
  if (node.kind === "augment") bindTargets(scope, node.target, { kind: "augment" });
  if (node.kind === "walrus")
    bindTargets(outsideOfComprehensions(scope), node.target, { kind: "value", value: node.value });
  if (node.kind === "for") bindTargets(scope, node.target, { kind: "item", of: node.iterable });
  if (node.kind === "with")
    for (const { value, target } of node.items) if (target) bindTargets(scope, target, { kind: "with", value });
  if (node.kind === "function") bind(scope, node.id, { kind: "function", node }, node, node.idFrom);
  if (node.kind === "class") bind(scope, node.id, { kind: "class", node }, node, node.idFrom);
  if (node.kind === "handler" && node.name) bind(scope, node.name.id, { kind: "handler", node }, node, node.name.from);
  if (node.kind === "match")
    for (const { id, from } of node.cases.flatMap(bindsOf))
      bind(scope, id, { kind: "match", subject: node.subject }, node, from);
  if (node.kind === "import") bindImports(node, scope);
}

function bindsOf(block: Block): Identifier[] {
  return block.children.flatMap((child) => (child.kind === "pattern" ? child.binds : []));
}

function bindImports(node: Node & { kind: "import" }, scope: Scope): void {
  for (const { path, from, alias } of node.names) {
    const [top = path] = path.split(".");
    const whole = node.module === null ? (alias ? path : top) : `${node.module}.${path}`;
    const name = alias?.id ?? (node.module === null ? top : path);
    bind(scope, name, { kind: "import", path: whole }, node, alias?.from ?? from);
  }
}

/** The scope in which `:=` binds its name: outside all comprehensions. */
export function outsideOfComprehensions(scope: Scope): Scope {
  let outer = scope;
  while (outer.node.kind === "comprehension" && outer.parent) outer = outer.parent;
  return outer;
}
