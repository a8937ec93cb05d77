import {
  ancestors,
  type Block,
  type Expression,
  type FunctionStatement,
  type Handler,
  type Identifier,
  isWithin,
  type Node,
  type Param,
  type Statement,
} from "../tree/nodes.ts";

export interface Scopes {
  module: Scope;
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

/**
 * Collects the names of a function. Its decorators, defaults and annotations belong to the scope around it, as in
 * Python.
 */
function visitFunction(node: Node & { kind: "function" | "lambda" }, scope: Scope, scopes: Scopes): void {
  const inner = newScope(node, scope);
  for (const [index, param] of node.params.entries()) {
    bind(inner, param.id, { kind: "param", param, index, holder: node }, param);
  }
  declareElsewhere(node.body, inner);
  for (const child of node.children) visit(child, child === node.body ? inner : scope, scopes);
}

/**
 * Notes the names of `global` and `nonlocal` statements first, because they apply to the whole function, also above
 * their line.
 */
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

/** Returns the scope in which `:=` binds its name: the nearest one that is no comprehension. */
export function outsideOfComprehensions(scope: Scope): Scope {
  let outer = scope;
  while (outer.node.kind === "comprehension" && outer.parent) outer = outer.parent;
  return outer;
}

export type Origin =
  | { kind: "provided" }
  | { kind: "value"; value: Expression }
  /** An item of a loop, or a part of an unpacked value. */
  | { kind: "item" | "part"; of: Expression }
  | { kind: "with"; value: Expression }
  | { kind: "param"; param: Param; index: number; holder: FunctionStatement | (Expression & { kind: "lambda" }) }
  | { kind: "import"; path: string }
  | { kind: "function"; node: FunctionStatement }
  | { kind: "class"; node: Statement & { kind: "class" } }
  | { kind: "handler"; node: Handler }
  | { kind: "match"; subject: Expression }
  /** `augment`: `x += 1` changes the value. `declared`: `x: int` assigns none. */
  | { kind: "augment" | "declared" };

/** A module, class, function or comprehension, with the names that it binds. */
export interface Scope {
  node: Node;
  parent: Scope | null;
  isClass: boolean;
  bindings: Map<string, Binding[]>;
  /** Names that a `global` or `nonlocal` statement binds in the module or in an enclosing function. */
  elsewhere: Map<string, "global" | "nonlocal">;
}

export interface Binding {
  name: string;
  scope: Scope;
  origin: Origin;
  node: Node;
  from: number;
}

/** Lists the names that a target binds, each with its origin. */
export function* targetNames(target: Expression, value: Origin): Iterable<{ node: Expression; origin: Origin }> {
  if (target.kind === "name") yield { node: target, origin: value };
  if (target.kind === "star") yield* targetNames(target.value, somePartOf(value));
  if (target.kind !== "tuple" && target.kind !== "list") return;
  for (const [index, item] of target.items.entries()) yield* targetNames(item, partOf(value, index, target.items));
}

function partOf(origin: Origin, index: number, targets: readonly Expression[]): Origin {
  if (origin.kind === "value" && isPlain(targets)) {
    const { value } = origin;
    const isDisplay = value.kind === "tuple" || value.kind === "list";
    const item = isDisplay && isPlain(value.items) ? value.items[index] : undefined;
    if (item) return { kind: "value", value: item };
  }
  return somePartOf(origin);
}

function isPlain(items: readonly Expression[]): boolean {
  return items.every(({ kind }) => kind !== "star");
}

function somePartOf(origin: Origin): Origin {
  if (origin.kind === "value" || origin.kind === "with") return { kind: "part", of: origin.value };
  return origin.kind === "item" ? { kind: "part", of: origin.of } : origin;
}

/** Statements whose bodies may run again. */
const loops = /^(for|while|comprehension)$/;

/**
 * Returns the bindings that may have set the value of a name at one of its uses. A binding above the use that always
 * runs hides all earlier bindings, unless a loop may run a later binding before the use.
 */
export function reachingBindings(use: Node, bindings: readonly Binding[], scope: Scope | undefined) {
  if (bindings.length < 2 || !scope || bindings[0]?.scope !== outsideOfComprehensions(scope)) return bindings;
  const above = bindings.filter(({ node }) => node.from < use.from && !isWithin(use, bindingStatement(node)));
  const last = above.at(-1);
  if (!last || last.origin.kind === "augment" || !dominates(bindingStatement(last.node), use)) return bindings;
  const loop = outermostLoop(use, bindingStatement(last.node));
  if (loop && bindings.some(({ node }) => node.from > use.from && isWithin(node, loop))) return bindings;
  return [last];
}

/** Returns the statement or the head of the loop in which a name is bound. */
function bindingStatement(node: Node): Node {
  if (node.kind !== "name") return node;
  for (const ancestor of ancestors(node)) {
    if (/^(assign|augment|walrus|for|with|comprehension)$/.test(ancestor.kind)) return ancestor;
  }
  return node;
}

/** Returns whether the statement has always run before `use`, because the block of the statement encloses the use. */
function dominates(statement: Node, use: Node): boolean {
  if (!/^(assign|function|class|import)$/.test(statement.kind)) return false;
  const block = statement.parent;
  // The body of a `try` may stop halfway before a handler or `finally` runs. But these are outside the block of that
  // body.
  return block?.kind === "block" && isWithin(use, block);
}

/** Returns the outermost loop around `use` that does not contain `binding`; undefined if there is none. */
function outermostLoop(use: Node, binding: Node): Node | undefined {
  let found: Node | undefined;
  for (const ancestor of ancestors(use)) {
    if (isWithin(binding, ancestor)) break;
    if (loops.test(ancestor.kind)) found = ancestor;
  }
  return found;
}

/** Matches code that may call a function by a name that is computed at run time. */
const dynamic = /\b(globals|locals|vars|getattr|exec|eval|__dict__|__main__|sys\.modules)\b/;

/**
 * Finds the functions that may run: methods, decorated functions, and those whose name occurs. If the code computes
 * names, every function may run.
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

/**
 * Returns whether a function may run although the code never names it: a decorator or, for a method, Python itself may
 * call it.
 */
function isImplicit(node: Node & { kind: "function" }): boolean {
  return node.decorators.length > 0 || node.parent?.parent?.kind === "class";
}

/** Returns whether the code at this syntax node may run. Code in a function outside `reached` cannot run. */
export function runs(use: Node, reached: ReadonlySet<Node>): boolean {
  for (let each: Node | null = use.parent; each; each = each.parent) {
    if (each.kind === "function" && !reached.has(each)) return false;
  }
  return true;
}
