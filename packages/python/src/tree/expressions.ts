import type { SyntaxNode } from "@lezer/common";
import { type Argument, type Comprehension, type Entry, type Expression, makeNode, type Param } from "./nodes.ts";
import type { Grammar } from "./reader.ts";
import { childrenOf, expressionsOf, itemOf, one, perhaps, Reader, rule, storing, target, word } from "./reader.ts";

/** The reader of each kind of lezer node that is an expression. */
const readers: Record<string, (node: SyntaxNode, grammar: Grammar) => Expression> = {
  VariableName: (node, grammar) => makeNode({ kind: "name", id: grammar.text(node), stores: false }, node),
  Number: (node, grammar) => makeNode({ kind: "number", text: grammar.text(node) }, node),
  Boolean: (node) => makeNode({ kind: "constant", value: node.to - node.from === 4 }, node),
  None: (node) => makeNode({ kind: "constant", value: null }, node),
  Ellipsis: (node) => makeNode({ kind: "constant", value: undefined }, node),
  String: stringOf,
  FormatString: formatOf,
  ContinuedString: continuedOf,
  MemberExpression: memberOf,
  CallExpression: rule("call", { callee: one, args: (reader) => argumentsOf(reader.take(), reader.grammar) }),
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

export function expressionOf(node: SyntaxNode, grammar: Grammar): Expression {
  const read = readers[node.name];
  return read ? read(node, grammar) : makeNode({ kind: "other" }, node);
}

export function isExpression(name: string): boolean {
  return name in readers;
}

function stringOf(node: SyntaxNode, grammar: Grammar): Expression {
  const value = textOf(grammar.text(node));
  return value === null ? makeNode({ kind: "bytes" }, node) : makeNode({ kind: "text", value }, node);
}

function formatOf(node: SyntaxNode, grammar: Grammar): Expression {
  const inside = insideOf(grammar.text(node));
  const parts: (string | null)[] = [];
  const replaced: Expression[] = [];
  let at = node.from + inside.from;
  for (const replacement of node.getChildren("FormatReplacement")) {
    if (replacement.from > at) parts.push(unescaped(grammar.source.slice(at, replacement.from)));
    parts.push(null);
    at = replacement.to;
    replaced.push(...replacedBy(replacement, grammar));
  }
  if (node.from + inside.to > at) parts.push(unescaped(grammar.source.slice(at, node.from + inside.to)));
  return makeNode({ kind: "format", parts, replaced }, node);
}

function replacedBy(replacement: SyntaxNode, grammar: Grammar): Expression[] {
  return Array.from(childrenOf(replacement)).flatMap((child) => {
    if (grammar.isExpression(child.name)) return grammar.expression(child);
    if (child.name !== "FormatSpec") return [];
    return child.getChildren("FormatReplacement").flatMap((inner) => replacedBy(inner, grammar));
  });
}

/** Joins adjacent literals such as `"a" "b"` into one text, or into one f-string if a part is an f-string. */
function continuedOf(node: SyntaxNode, grammar: Grammar): Expression {
  const pieces = Array.from(childrenOf(node))
    .filter(({ name }) => grammar.isExpression(name))
    .map((child) => grammar.expression(child));
  if (pieces.some(({ kind }) => kind === "bytes")) return makeNode({ kind: "bytes" }, node);
  if (pieces.every((piece) => piece.kind === "text")) {
    return makeNode({ kind: "text", value: pieces.map(({ value }) => value).join("") }, node);
  }
  const parts = pieces.flatMap((piece) =>
    piece.kind === "format" ? piece.parts : [piece.kind === "text" ? piece.value : ""],
  );
  return makeNode({ kind: "format", parts, replaced: pieces.flatMap((piece) => piece.children) }, node);
}

function memberOf(node: SyntaxNode, grammar: Grammar): Expression {
  const reader = new Reader(node, grammar);
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

export function yieldOf(node: SyntaxNode, grammar: Grammar): Expression {
  return rule("yield", "yield", "from", { value: perhaps })(node, grammar);
}

function parenthesisOf(node: SyntaxNode, grammar: Grammar): Expression {
  const reader = new Reader(node, grammar);
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
  return (node: SyntaxNode, grammar: Grammar): Expression => {
    const reader = new Reader(node, grammar);
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

export function argumentsOf(list: SyntaxNode, grammar: Grammar): Argument[] {
  const reader = new Reader(list, grammar);
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
  return reader.peek() === "ParamList" ? paramsOf(reader.take(), reader.grammar) : [];
}

export function paramsOf(list: SyntaxNode, grammar: Grammar): Param[] {
  const reader = new Reader(list, grammar);
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
  return reader.peek() === "TypeDef" ? annotationOf(reader.take(), reader.grammar) : null;
}

/** Reads the annotation in `: int` or `-> int`; null if there is none. */
export function annotationOf(node: SyntaxNode, grammar: Grammar): Expression | null {
  const reader = new Reader(node, grammar);
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
