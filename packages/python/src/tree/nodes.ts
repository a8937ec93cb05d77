/** Where a node stands, in UTF-16 units of the source, and what it hangs in. */
export interface Place {
  from: number;
  to: number;
  parent: Node | null;
  /** In the order of the source. */
  children: Node[];
}

export type Expression =
  | (Place & { kind: "name"; id: string; stores: boolean })
  | (Place & { kind: "text"; value: string })
  | (Place & { kind: "bytes" })
  /** An f-string; `parts` are its texts and, for every replacement, null. */
  | (Place & { kind: "format"; parts: (string | null)[] })
  | (Place & { kind: "number"; text: string })
  /** `undefined` is `...`. */
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

/** `key` is null for `**value`. */
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
  /** Of a dict only. */
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

/** A name that a statement binds. */
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
  /** Of `from module import ...`; leading dots stay. Null for `import ...`. */
  module: string | null;
  /** `from module import *` has the one name `*`. */
  names: { path: string; from: number; alias: Identifier | null }[];
};

/** The statements of one indentation. */
export type Block = Place & { kind: "block"; statements: Statement[] };

/** `types` is null for `except:`. */
export type Handler = Place & { kind: "handler"; types: Expression | null; name: Identifier | null; body: Block };

/** What a pattern of a `match` binds, and the keys that it looks for. */
export type Pattern = Place & { kind: "pattern"; binds: Identifier[]; keys: string[] };

export type Node = Expression | Argument | Param | Statement | Block | Handler | Pattern;

/** Makes a node of its fields; the nodes in them become its children, sorted by their place. */
export function grown<const T extends object>(fields: T, { from, to }: { from: number; to: number }): Grown<T> {
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

/** Every node below and the node itself, in the order of the source. */
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

/** The same, each with its child on the way to the node. */
export function* wayUp(node: Node): Iterable<[ancestor: Node, child: Node]> {
  let child = node;
  for (const ancestor of ancestors(node)) {
    yield [ancestor, child];
    child = ancestor;
  }
}

/** Whether a node lies in another, or is it. */
export function isWithin(node: Node, outer: Node): boolean {
  for (let each: Node | null = node; each; each = each.parent) if (each === outer) return true;
  return false;
}
