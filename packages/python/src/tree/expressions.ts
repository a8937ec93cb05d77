import type { SyntaxNode } from "@lezer/common";
import { callOf, lambdaOf } from "./calls.ts";
import { displayOf } from "./displays.ts";
import { type Expression, grown } from "./nodes.ts";
import { expressionsOf, type Grammar, itemOf, Reader, storing } from "./reader.ts";
import { insideOf, textOf, unescaped } from "./strings.ts";

/** Every way in which lezer names what has a value. */
const readers: Record<string, (node: SyntaxNode, grammar: Grammar) => Expression> = {
  VariableName: (node, grammar) => grown({ kind: "name", id: grammar.text(node), stores: false }, node),
  Number: (node, grammar) => grown({ kind: "number", text: grammar.text(node) }, node),
  Boolean: (node) => grown({ kind: "constant", value: node.to - node.from === 4 }, node),
  None: (node) => grown({ kind: "constant", value: null }, node),
  Ellipsis: (node) => grown({ kind: "constant", value: undefined }, node),
  String: stringOf,
  FormatString: formatOf,
  ContinuedString: continuedOf,
  MemberExpression: memberOf,
  CallExpression: callOf,
  LambdaExpression: lambdaOf,
  BinaryExpression: binaryOf,
  UnaryExpression: unaryOf,
  ConditionalExpression: conditionalOf,
  NamedExpression: walrusOf,
  AwaitExpression: awaitOf,
  YieldExpression: (node, grammar) => yieldOf(new Reader(node, grammar), node),
  ParenthesizedExpression: parenthesisOf,
  TupleExpression: displayOf,
  ArrayExpression: displayOf,
  SetExpression: displayOf,
  DictionaryExpression: displayOf,
  ComprehensionExpression: displayOf,
  ArrayComprehensionExpression: displayOf,
  SetComprehensionExpression: displayOf,
  DictionaryComprehensionExpression: displayOf,
};

export function expressionOf(node: SyntaxNode, grammar: Grammar): Expression {
  const read = readers[node.name];
  return read ? read(node, grammar) : grown({ kind: "other" }, node);
}

export function isExpression(name: string): boolean {
  return name in readers;
}

function stringOf(node: SyntaxNode, grammar: Grammar): Expression {
  const value = textOf(grammar.text(node));
  return value === null ? grown({ kind: "bytes" }, node) : grown({ kind: "text", value }, node);
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
  return grown({ kind: "format", parts, replaced }, node);
}

function replacedBy(replacement: SyntaxNode, grammar: Grammar): Expression[] {
  const found: Expression[] = [];
  for (let child = replacement.firstChild; child; child = child.nextSibling) {
    if (grammar.isExpression(child.name)) found.push(grammar.expression(child));
    if (child.name === "FormatSpec") {
      found.push(...child.getChildren("FormatReplacement").flatMap((inner) => replacedBy(inner, grammar)));
    }
  }
  return found;
}

/** `"a" "b"`: one text, or an f-string of all parts. */
function continuedOf(node: SyntaxNode, grammar: Grammar): Expression {
  const pieces: Expression[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (grammar.isExpression(child.name)) pieces.push(grammar.expression(child));
  }
  if (pieces.some(({ kind }) => kind === "bytes")) return grown({ kind: "bytes" }, node);
  if (pieces.every((piece) => piece.kind === "text")) {
    return grown({ kind: "text", value: pieces.map(({ value }) => value).join("") }, node);
  }
  const parts = pieces.flatMap((piece) =>
    piece.kind === "format" ? piece.parts : [piece.kind === "text" ? piece.value : ""],
  );
  return grown({ kind: "format", parts, replaced: pieces.flatMap((piece) => piece.children) }, node);
}

function memberOf(node: SyntaxNode, grammar: Grammar): Expression {
  const reader = new Reader(node, grammar);
  const object = reader.expression();
  if (reader.skip(".")) {
    const name = reader.text(reader.take());
    return grown({ kind: "attribute", object, name }, node);
  }
  const index = indexOf(node, reader);
  return grown({ kind: "subscript", object, index, stores: false }, node);
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
  if (slices) return grown({ kind: "slice", items }, { from, to: node.to - 1 });
  return grown({ kind: "tuple", items }, { from, to: node.to - 1 });
}

function binaryOf(node: SyntaxNode, grammar: Grammar): Expression {
  const reader = new Reader(node, grammar);
  const left = reader.expression();
  const words: string[] = [];
  while (!reader.atExpression) words.push(reader.text(reader.take()));
  const right = reader.expression();
  return grown({ kind: "binary", op: words.join(" "), left, right }, node);
}

function unaryOf(node: SyntaxNode, grammar: Grammar): Expression {
  const reader = new Reader(node, grammar);
  const op = reader.text(reader.take());
  const operand = reader.expression();
  return grown({ kind: "unary", op, operand }, node);
}

function conditionalOf(node: SyntaxNode, grammar: Grammar): Expression {
  const reader = new Reader(node, grammar);
  const yes = reader.expression();
  reader.skip("if");
  const test = reader.expression();
  reader.skip("else");
  const no = reader.expression();
  return grown({ kind: "conditional", test, yes, no }, node);
}

function walrusOf(node: SyntaxNode, grammar: Grammar): Expression {
  const reader = new Reader(node, grammar);
  const target = storing(reader.expression());
  reader.skip("AssignOp");
  const value = reader.expression();
  return grown({ kind: "walrus", target, value }, node);
}

function awaitOf(node: SyntaxNode, grammar: Grammar): Expression {
  const reader = new Reader(node, grammar);
  reader.skip("await");
  const value = reader.expression();
  return grown({ kind: "await", value }, node);
}

export function yieldOf(reader: Reader, node: SyntaxNode): Expression {
  reader.skip("yield");
  reader.skip("from");
  const value = reader.done ? null : expressionsOf(reader);
  return grown({ kind: "yield", value }, node);
}

function parenthesisOf(node: SyntaxNode, grammar: Grammar): Expression {
  const reader = new Reader(node, grammar);
  reader.skip("(");
  return itemOf(reader);
}
