import type { SyntaxNode } from "@lezer/common";
import type { Argument, Comprehension, Entry, Expression, Identifier, Node, Param } from "./nodes.ts";
import { makeNode } from "./nodes.ts";

export function sliceOf({ from, to }: { from: number; to: number }, source: string): string {
  return source.slice(from, to);
}

export function* childrenOf(node: SyntaxNode): Iterable<SyntaxNode> {
  for (let child = node.firstChild; child; child = child.nextSibling) yield child;
}

/** Reads the children of a lezer node one after the other. */
export class Reader {
  readonly source: string;
  #next: SyntaxNode | null;

  constructor(node: SyntaxNode, source: string) {
    this.source = source;
    this.#next = node.firstChild;
    this.#skipComments();
  }

  get done(): boolean {
    return this.#next === null;
  }

  peek(): string {
    return this.#next?.name ?? "";
  }

  get atExpression(): boolean {
    return this.peek() in readers;
  }

  take(): SyntaxNode {
    const taken = this.#next;
    if (!taken) throw new RangeError("the syntax tree ends where a node was expected");
    this.#next = taken.nextSibling;
    this.#skipComments();
    return taken;
  }

  skip(...names: string[]): boolean {
    if (!this.#next || !names.includes(this.#next.name)) return false;
    this.take();
    return true;
  }

  text(node: SyntaxNode): string {
    return sliceOf(node, this.source);
  }

  listed<T>(end: RegExp, read: (reader: Reader) => T): T[] {
    const found: T[] = [];
    while (!this.done && !end.test(this.peek())) {
      found.push(read(this));
      this.skip(",");
    }
    return found;
  }

  identifier(): Identifier {
    const name = this.take();
    return { id: this.text(name), from: name.from };
  }

  expression(): Expression {
    return expressionOf(this.take(), this.source);
  }

  #skipComments(): void {
    while (this.#next?.name === "Comment") this.#next = this.#next.nextSibling;
  }
}

/** A part of a rule: a word that may be absent from the source, or fields of the syntax node with their readers. */
type Part = string | Record<string, (reader: Reader) => unknown>;

/** Builds a reader for nodes whose children are the given parts in this order. */
export function rule(kind: Node["kind"], ...parts: Part[]): (node: SyntaxNode, source: string) => never {
  return (node, source) => {
    const reader = new Reader(node, source);
    const fields: Record<string, unknown> = { kind };
    for (const part of parts) {
      if (typeof part === "string") reader.skip(part);
      else for (const [name, read] of Object.entries(part)) fields[name] = read(reader);
    }
    return makeNode(fields, node) as never;
  };
}

export const one = (reader: Reader) => reader.expression();
export const word = (reader: Reader) => reader.text(reader.take());
export const target = (reader: Reader) => storing(expressionsOf(reader));
export const perhaps = (reader: Reader) => (reader.done ? null : expressionsOf(reader));

/** Reads `a, *b, c` without brackets: one expression, or a tuple of them. */
export function expressionsOf(reader: Reader): Expression {
  const items: Expression[] = [];
  let commas = 0;
  while (reader.peek() === "*" || reader.atExpression) {
    items.push(itemOf(reader));
    if (!reader.skip(",")) break;
    commas++;
  }
  const [first] = items;
  if (first && commas === 0) return first;
  return makeNode({ kind: "tuple", items }, { from: first?.from ?? 0, to: items.at(-1)?.to ?? 0 });
}

/** Reads an element of a list, tuple, set or argument list: `*b` or an expression. */
export function itemOf(reader: Reader): Expression {
  if (reader.peek() !== "*") return reader.expression();
  const star = reader.take();
  const value = reader.expression();
  return makeNode({ kind: "star", value }, { from: star.from, to: value.to });
}

/** Marks the names and subscripts that an assignment, a loop or a `with` writes to. */
export function storing(target: Expression): Expression {
  if (target.kind === "name" || target.kind === "subscript") target.stores = true;
  if (target.kind === "tuple" || target.kind === "list") target.items.forEach(storing);
  if (target.kind === "star") storing(target.value);
  return target;
}

/** The reader of each kind of lezer node that is an expression. */
const readers: Record<string, (node: SyntaxNode, source: string) => Expression> = {
  VariableName: (node, source) => makeNode({ kind: "name", id: sliceOf(node, source), stores: false }, node),
  Number: (node, source) => makeNode({ kind: "number", text: sliceOf(node, source) }, node),
  Boolean: (node) => makeNode({ kind: "constant", value: node.to - node.from === 4 }, node),
  None: (node) => makeNode({ kind: "constant", value: null }, node),
  Ellipsis: (node) => makeNode({ kind: "constant", value: undefined }, node),
  String: stringOf,
  FormatString: formatOf,
  ContinuedString: continuedOf,
  MemberExpression: memberOf,
  CallExpression: rule("call", { callee: one, args: (reader) => argumentsOf(reader.take(), reader.source) }),
  LambdaExpression: rule("lambda", "lambda", { params: lambdaParams }, ":", { body: one }),
  BinaryExpression: rule("binary", { left: one, op: operatorOf, right: one }),
  UnaryExpression: rule("unary", { op: word, operand: one }),
  ConditionalExpression: rule("conditional", { yes: one }, "if", { test: one }, "else", { no: one }),
  NamedExpression: rule("walrus", { target }, "AssignOp", { value: one }),
  AwaitExpression: rule("await", "await", { value: one }),
  YieldExpression: yieldOf,
  ParenthesizedExpression: parenthesisOf,
  TupleExpression: rule("tuple", "(", { items: itemsOf }),
  ArrayExpression: rule("list", "[", { items: itemsOf }),
  SetExpression: rule("set", "{", { items: itemsOf }),
  DictionaryExpression: rule("dict", "{", { entries: entriesOf }),
  ComprehensionExpression: comprehension("generator"),
  ArrayComprehensionExpression: comprehension("list"),
  SetComprehensionExpression: comprehension("set"),
  DictionaryComprehensionExpression: comprehension("dict"),
};

export function expressionOf(node: SyntaxNode, source: string): Expression {
  const read = readers[node.name];
  return read ? read(node, source) : makeNode({ kind: "other" }, node);
}

function stringOf(node: SyntaxNode, source: string): Expression {
  const value = textOf(sliceOf(node, source));
  return value === null ? makeNode({ kind: "bytes" }, node) : makeNode({ kind: "text", value }, node);
}

function formatOf(node: SyntaxNode, source: string): Expression {
  const inside = insideOf(sliceOf(node, source));
  const parts: (string | null)[] = [];
  const replaced: Expression[] = [];
  let at = node.from + inside.from;
  for (const replacement of node.getChildren("FormatReplacement")) {
    if (replacement.from > at) parts.push(unescaped(source.slice(at, replacement.from)));
    parts.push(null);
    at = replacement.to;
    replaced.push(...replacedBy(replacement, source));
  }
  if (node.from + inside.to > at) parts.push(unescaped(source.slice(at, node.from + inside.to)));
  return makeNode({ kind: "format", parts, replaced }, node);
}

function replacedBy(replacement: SyntaxNode, source: string): Expression[] {
  return Array.from(childrenOf(replacement)).flatMap((child) => {
    if (child.name in readers) return expressionOf(child, source);
    if (child.name !== "FormatSpec") return [];
    return child.getChildren("FormatReplacement").flatMap((inner) => replacedBy(inner, source));
  });
}

/** Joins adjacent literals such as `"a" "b"` into one text, or into one f-string if a part is an f-string. */
function continuedOf(node: SyntaxNode, source: string): Expression {
  const pieces = Array.from(childrenOf(node))
    .filter(({ name }) => name in readers)
    .map((child) => expressionOf(child, source));
  if (pieces.some(({ kind }) => kind === "bytes")) return makeNode({ kind: "bytes" }, node);
  if (pieces.every((piece) => piece.kind === "text")) {
    return makeNode({ kind: "text", value: pieces.map(({ value }) => value).join("") }, node);
  }
  const parts = pieces.flatMap((piece) =>
    piece.kind === "format" ? piece.parts : [piece.kind === "text" ? piece.value : ""],
  );
  return makeNode({ kind: "format", parts, replaced: pieces.flatMap((piece) => piece.children) }, node);
}

function memberOf(node: SyntaxNode, source: string): Expression {
  const reader = new Reader(node, source);
  const object = reader.expression();
  if (reader.skip(".")) return makeNode({ kind: "attribute", object, name: word(reader) }, node);
  return makeNode({ kind: "subscript", object, index: indexOf(node, reader), stores: false }, node);
}

function indexOf(node: SyntaxNode, reader: Reader): Expression {
  reader.skip("[");
  const items: Expression[] = [];
  let [slices, commas] = [false, false];
  while (!reader.done && reader.peek() !== "]") {
    if (reader.skip(":")) slices = true;
    else if (reader.skip(",")) commas = true;
    else items.push(itemOf(reader));
  }
  const [only] = items;
  if (only && !slices && !commas) return only;
  const from = only?.from ?? node.to - 1;
  return makeNode({ kind: slices ? "slice" : "tuple", items }, { from, to: node.to - 1 }) as Expression;
}

function operatorOf(reader: Reader): string {
  const words: string[] = [];
  while (!reader.atExpression) words.push(word(reader));
  return words.join(" ");
}

export function yieldOf(node: SyntaxNode, source: string): Expression {
  return rule("yield", "yield", "from", { value: perhaps })(node, source);
}

function parenthesisOf(node: SyntaxNode, source: string): Expression {
  const reader = new Reader(node, source);
  reader.skip("(");
  return itemOf(reader);
}

function itemsOf(reader: Reader): Expression[] {
  return reader.listed(/^[\])}]$/, itemOf);
}

/** Reads the entries of a dict, up to the closing bracket or to the `for` of a comprehension. */
function entriesOf(reader: Reader): Entry[] {
  return reader.listed(/^(\}|for|async)$/, () => {
    if (reader.skip("**")) return { key: null, value: reader.expression() };
    const key = reader.expression();
    reader.skip(":");
    return { key, value: reader.expression() };
  });
}

function comprehension(form: Comprehension["form"]) {
  return (node: SyntaxNode, source: string): Expression => {
    const reader = new Reader(node, source);
    reader.take();
    const [entry] = form === "dict" ? entriesOf(reader) : [{ key: null, value: itemOf(reader) }];
    return comprehensionOf(form, entry as Entry, node, reader);
  };
}

/** Reads the `for ... in ... if ...` of a comprehension after its element. */
function comprehensionOf(
  form: Comprehension["form"],
  { key, value }: Entry,
  place: { from: number; to: number },
  reader: Reader,
): Comprehension {
  const loops: Comprehension["loops"] = [];
  const conditions: Expression[] = [];
  while (/^(for|async|if)$/.test(reader.peek())) {
    reader.skip("async");
    if (reader.skip("if")) {
      conditions.push(reader.expression());
      continue;
    }
    reader.skip("for");
    const target = storing(expressionsOf(reader));
    reader.skip("in");
    loops.push({ target, iterable: reader.expression() });
  }
  return makeNode({ kind: "comprehension", form, key, element: value, loops, conditions }, place);
}

export function argumentsOf(list: SyntaxNode, source: string): Argument[] {
  const reader = new Reader(list, source);
  reader.skip("(");
  return reader.listed(/^\)$/, argumentOf);
}

function argumentOf(reader: Reader): Argument {
  const stars = starsAt(reader);
  const from = stars > 0 ? reader.take().from : null;
  let value = reader.expression();
  let name: string | null = null;
  if (reader.peek() === "AssignOp") {
    const isWalrus = word(reader) === ":=";
    const right = reader.expression();
    if (isWalrus && value.kind === "name") {
      value.stores = true;
      value = makeNode(
        { kind: "walrus", target: value as Expression, value: right },
        { from: value.from, to: right.to },
      );
    } else {
      name = value.kind === "name" ? value.id : "";
      value = right;
    }
  }
  if (/^(for|async)$/.test(reader.peek())) {
    value = comprehensionOf("generator", { key: null, value }, value, reader);
  }
  return makeNode({ kind: "argument", name, stars, value }, { from: from ?? value.from, to: value.to });
}

function starsAt(reader: Reader): 0 | 1 | 2 {
  return reader.peek() === "**" ? 2 : reader.peek() === "*" ? 1 : 0;
}

function lambdaParams(reader: Reader): Param[] {
  return reader.peek() === "ParamList" ? paramsOf(reader.take(), reader.source) : [];
}

export function paramsOf(list: SyntaxNode, source: string): Param[] {
  const reader = new Reader(list, source);
  reader.skip("(");
  return reader.listed(/^\)$/, paramOf).filter((param) => param !== null);
}

/** Reads a parameter. Null for the bare `*` and `/`, which are no parameters. */
function paramOf(reader: Reader): Param | null {
  const stars = starsAt(reader);
  if (stars > 0 || reader.peek() === "/") reader.take();
  if (reader.peek() !== "VariableName") return null;
  const name = reader.take();
  const annotation = annotationAt(reader);
  const fallback = reader.skip("AssignOp") ? reader.expression() : null;
  const to = fallback?.to ?? annotation?.to ?? name.to;
  return makeNode({ kind: "param", id: reader.text(name), stars, annotation, fallback }, { from: name.from, to });
}

export function annotationAt(reader: Reader): Expression | null {
  return reader.peek() === "TypeDef" ? annotationOf(reader.take(), reader.source) : null;
}

/** Reads the annotation in `: int` or `-> int`; null if there is none. */
export function annotationOf(node: SyntaxNode, source: string): Expression | null {
  const reader = new Reader(node, source);
  reader.skip(":");
  return reader.done ? null : reader.expression();
}

const opening = /^([a-zA-Z]*)("""|'''|"|')/;

const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", "\\": "\\", "'": "'", '"': '"', "\n": "" };

/** Returns the text of a string literal; null for bytes. */
export function textOf(literal: string): string | null {
  const [start = "", prefix = "", quote = ""] = opening.exec(literal) ?? [];
  if (/b/i.test(prefix)) return null;
  const inner = literal.slice(start.length, literal.length - quote.length);
  return /r/i.test(prefix) ? inner : unescaped(inner);
}

/**
 * Resolves the simple escapes of a literal. Escapes by number or name stay as written, because no key is written that
 * way.
 */
export function unescaped(text: string): string {
  return text.replace(/\\(\n|[ntr\\'"])/g, (_, letter: string) => escapes[letter] ?? letter);
}

/** Returns the range of an f-string's text: its literal without prefix and quotes. */
export function insideOf(literal: string): { from: number; to: number } {
  const [start = "", , quote = ""] = opening.exec(literal) ?? [];
  return { from: start.length, to: literal.length - quote.length };
}
