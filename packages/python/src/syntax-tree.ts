import { Lines } from "./lines.ts";

/** A node of Python's syntax tree, as ruff names it: `StmtAssign`, `ExprName`, `Identifier`. */
export interface SyntaxNode {
  type: string;
  /** The field of the parent that holds it (or the list that it is in). */
  field: string;
  parent: SyntaxNode | null;
  children: SyntaxNode[];
  /** Fields that are plain values, as written: `ctx` is `Store`, `id` is `Name("x")`. */
  values: Record<string, string>;
}

/** `targets: [`, `value: Dict(`, `ExprDict {`: what opens a node, and perhaps the field that it is in. */
const opening = /^(?:(\w+): )?(\w*) ?([[({])$/;
const plainField = /^(\w+): (.+?),?$/;

/**
 * The tree out of the text in which ruff's WebAssembly gives it (Rust's pretty `Debug`: one line per value, no line
 * breaks inside of texts). Lists and wrappers such as `Some(...)` are left out: their nodes hang in the field itself.
 */
export function readSyntaxTree(text: string): SyntaxNode {
  const root: SyntaxNode = { type: "", field: "", parent: null, children: [], values: {} };
  const open: { node: SyntaxNode; field: string }[] = [{ node: root, field: "" }];
  for (const line of text.split("\n")) {
    const trimmed = line.trim();
    const { node, field } = open.at(-1) as (typeof open)[number];
    const [, name = field, type = "", bracket] = opening.exec(trimmed) ?? [];
    if (bracket === "{") {
      const child: SyntaxNode = { type, field: name, parent: node, children: [], values: {} };
      node.children.push(child);
      open.push({ node: child, field: "" });
    } else if (bracket !== undefined) {
      open.push({ node, field: name });
    } else if (/^[\])}],?$/.test(trimmed)) {
      open.pop();
    } else {
      const [, key, value] = plainField.exec(trimmed) ?? [];
      if (key !== undefined && value !== undefined) node.values[key] = value;
    }
  }
  return root;
}

/** Every node below, from the first to the last in the source. */
export function* nodesBelow(node: SyntaxNode): Iterable<SyntaxNode> {
  const waiting = node.children.toReversed();
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    yield next;
    for (let index = next.children.length - 1; index >= 0; index--) waiting.push(next.children[index] as SyntaxNode);
  }
}

export function* ancestorsOf(node: SyntaxNode): Iterable<SyntaxNode> {
  for (let parent = node.parent; parent; parent = parent.parent) yield parent;
}

/** Where nodes begin: line and column from 1, in UTF-16 units. Ruff's ranges count bytes. The source is read once. */
export function placesIn(source: string): (node: SyntaxNode) => { line: number; column: number } {
  const bytes = Buffer.from(source);
  const lines = new Lines(source);
  let [at, offset] = [0, 0];
  return ({ values: { range = "" } }) => {
    const start = Number.parseInt(range, 10);
    // Nodes are asked for from the first to the last, as a rule.
    if (start < at) [at, offset] = [0, 0];
    offset += bytes.toString("utf8", at, start).length;
    at = start;
    return lines.placeOf(offset);
  };
}
