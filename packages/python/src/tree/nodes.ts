/** A syntax node's range in UTF-16 units of the source, with its parent and its children. */
export interface Place {
  from: number;
  to: number;
  parent: Node | null;
  children: Node[];
}

export type Expression =
  | (Place & { kind: "name"; id: string; stores: boolean })
  | (Place & { kind: "text"; value: string })
  | (Place & { kind: "bytes" })
  /** An f-string. `parts` has its texts, with null in place of each `{...}`. */
  | (Place & { kind: "format"; parts: (string | null)[] })
  | (Place & { kind: "number"; text: string })
  /** True, False, None (null) or `...` (undefined). */
  | (Place & { kind: "constant"; value: boolean | null | undefined })
  | (Place & { kind: "attribute"; object: Expression; name: string })
  | (Place & { kind: "subscript"; object: Expression; index: Expression; stores: boolean })
  | (Place & { kind: "slice" })
  | (Place & { kind: "call"; callee: Expression; args: Argument[] })
  | (Place & { kind: "list" | "tuple" | "set"; items: Expression[] })
  | (Place & { kind: "dict"; entries: Entry[] })
  | Comprehension
  | (Place & { kind: "lambda"; params: Param[]; body: Expression })
  | (Place & { kind: "unary"; op: string; operand: Expression })
  /** Arithmetic, comparisons (`<`, `in`, `not in`, `is`), `and` and `or`. */
  | (Place & { kind: "binary"; op: string; left: Expression; right: Expression })
  | (Place & { kind: "conditional"; test: Expression; yes: Expression; no: Expression })
  | (Place & { kind: "walrus"; target: Expression; value: Expression })
  | (Place & { kind: "star" | "await"; value: Expression })
  | (Place & { kind: "yield"; value: Expression | null })
  | (Place & { kind: "other" });

/** An entry of a dict. `key` is null for `**value`. */
export interface Entry {
  key: Expression | null;
  value: Expression;
}

export type Argument = Place & { kind: "argument"; name: string | null; stars: 0 | 1 | 2; value: Expression };

export type Param = Place & {
  kind: "param";
  id: string;
  stars: number;
  annotation: Expression | null;
  fallback: Expression | null;
};

export type Comprehension = Place & {
  kind: "comprehension";
  form: "list" | "set" | "dict" | "generator";
  key: Expression | null;
  element: Expression;
  loops: { target: Expression; iterable: Expression }[];
};

export type Statement =
  | (Place & { kind: "expression"; value: Expression })
  | (Place & { kind: "assign"; targets: Expression[]; annotation: Expression | null; value: Expression | null })
  | (Place & { kind: "augment"; target: Expression; op: string; value: Expression })
  | (Place & { kind: "delete"; targets: Expression[] })
  | (Place & { kind: "return"; value: Expression | null })
  | (Place & { kind: "raise" | "assert" | "pass" | "break" | "continue" })
  | (Place & { kind: "scope"; word: "global" | "nonlocal"; names: string[] })
  | ImportStatement
  | (Place & { kind: "if"; branches: { test: Expression; body: Block }[]; otherwise: Block | null })
  | (Place & { kind: "for"; target: Expression; iterable: Expression; body: Block; otherwise: Block | null })
  | (Place & { kind: "while"; test: Expression; body: Block; otherwise: Block | null })
  | (Place & { kind: "try"; body: Block; handlers: Handler[]; rest: Block[] })
  | (Place & { kind: "with"; items: { value: Expression; target: Expression | null }[]; body: Block })
  | (Place & { kind: "match"; subject: Expression; cases: Block[] })
  | FunctionStatement
  | (Place & { kind: "class"; id: string; idFrom: number; bases: Argument[]; decorators: Expression[]; body: Block })
  | (Place & { kind: "unknown" });

export interface Identifier {
  id: string;
  from: number;
}

export type FunctionStatement = Place & {
  kind: "function";
  id: string;
  idFrom: number;
  params: Param[];
  returns: Expression | null;
  decorators: Expression[];
  body: Block;
};

export type ImportStatement = Place & {
  kind: "import";
  /** The module of `from module import ...`, with leading dots; null for `import ...`. */
  module: string | null;
  /** `from module import *` has the one name `*`. */
  names: { path: string; from: number; alias: Identifier | null }[];
};

export type Block = Place & { kind: "block"; statements: Statement[] };

/** An `except` clause. `types` is null for a bare `except:`. */
export type Handler = Place & { kind: "handler"; types: Expression | null; name: Identifier | null; body: Block };

/** The names that a `match` pattern binds, and the keys that it requires. */
export type Pattern = Place & { kind: "pattern"; binds: Identifier[]; keys: string[] };

export type Node = Expression | Argument | Param | Statement | Block | Handler | Pattern;

/** Builds a syntax node. The syntax nodes in its fields become its children, sorted by their range. */
export function makeNode<const T extends object>(fields: T, { from, to }: { from: number; to: number }): Grown<T> {
  const children = nodesIn(Object.values(fields)).sort((a, b) => a.from - b.from);
  const node = { ...fields, from, to, parent: null, children } as unknown as Grown<T>;
  for (const child of children) child.parent = node as unknown as Node;
  return node;
}

type Grown<T> = Place & { -readonly [Name in keyof T]: T[Name] };

function nodesIn(values: unknown[]): Node[] {
  return values.flatMap((value) => {
    if (typeof value !== "object" || value === null) return [];
    return "kind" in value ? [value as Node] : nodesIn(Object.values(value));
  });
}

/** Yields a syntax node and every node below it, in the order of the source. */
export function* walk(node: Node): Iterable<Node> {
  const waiting: Node[] = [node];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    yield next;
    for (let index = next.children.length - 1; index >= 0; index--) waiting.push(next.children[index] as Node);
  }
}

export function* ancestors(node: Node): Iterable<Node> {
  for (let parent = node.parent; parent; parent = parent.parent) yield parent;
}

/** Yields every ancestor of a syntax node from the inside out, each with the child that is this node or contains it. */
export function* ancestorPairs(node: Node): Iterable<[ancestor: Node, child: Node]> {
  let child = node;
  for (const ancestor of ancestors(node)) {
    yield [ancestor, child];
    child = ancestor;
  }
}

/** Returns whether a node is `outer` or lies inside it. */
export function isWithin(node: Node, outer: Node): boolean {
  for (let each: Node | null = node; each; each = each.parent) if (each === outer) return true;
  return false;
}
