import type { SyntaxNode } from "@lezer/common";
import { annotationOf, argumentsOf, paramsOf } from "./calls.ts";
import { type Block, type Expression, grown, type Handler, type Pattern, type Statement } from "./nodes.ts";
import { expressionsOf, type Grammar, Reader, storing } from "./reader.ts";
import { textOf } from "./strings.ts";

/** Statements that hold others. */
export const compoundReaders = {
  IfStatement: ifOf,
  WhileStatement: whileOf,
  ForStatement: forOf,
  TryStatement: tryOf,
  WithStatement: withOf,
  MatchStatement: matchOf,
  FunctionDefinition: (node: SyntaxNode, grammar: Grammar) => functionOf(node, grammar, []),
  ClassDefinition: (node: SyntaxNode, grammar: Grammar) => classOf(node, grammar, []),
  DecoratedStatement: decoratedOf,
};

function ifOf(node: SyntaxNode, grammar: Grammar): Statement {
  const reader = new Reader(node, grammar);
  const branches: { test: Expression; body: Block }[] = [];
  while (reader.skip("if", "elif")) {
    const test = reader.expression();
    branches.push({ test, body: reader.block() });
  }
  const otherwise = elseOf(reader);
  return grown({ kind: "if", branches, otherwise }, node);
}

function elseOf(reader: Reader): Block | null {
  return reader.skip("else") ? reader.block() : null;
}

function whileOf(node: SyntaxNode, grammar: Grammar): Statement {
  const reader = new Reader(node, grammar);
  reader.skip("while");
  const test = reader.expression();
  const body = reader.block();
  const otherwise = elseOf(reader);
  return grown({ kind: "while", test, body, otherwise }, node);
}

function forOf(node: SyntaxNode, grammar: Grammar): Statement {
  const reader = new Reader(node, grammar);
  reader.skip("async");
  reader.skip("for");
  const target = storing(expressionsOf(reader));
  reader.skip("in");
  const iterable = expressionsOf(reader);
  const body = reader.block();
  const otherwise = elseOf(reader);
  return grown({ kind: "for", target, iterable, body, otherwise }, node);
}

function tryOf(node: SyntaxNode, grammar: Grammar): Statement {
  const reader = new Reader(node, grammar);
  reader.skip("try");
  const body = reader.block();
  const handlers: Handler[] = [];
  while (reader.peek() === "except") handlers.push(handlerOf(reader));
  const rest: Block[] = [];
  while (reader.skip("else", "finally")) rest.push(reader.block());
  return grown({ kind: "try", body, handlers, rest }, node);
}

function handlerOf(reader: Reader): Handler {
  const { from } = reader.take();
  reader.skip("*");
  const types = reader.peek() === "Body" ? null : reader.expression();
  const name = reader.skip("as", ",") ? reader.identifier() : null;
  const body = reader.block();
  return grown({ kind: "handler", types, name, body }, { from, to: body.to });
}

function withOf(node: SyntaxNode, grammar: Grammar): Statement {
  const reader = new Reader(node, grammar);
  reader.skip("async");
  reader.skip("with");
  const items: { value: Expression; target: Expression | null }[] = [];
  while (reader.peek() !== "Body") {
    const value = reader.expression();
    const target = reader.skip("as") ? storing(reader.expression()) : null;
    items.push({ value, target });
    reader.skip(",");
  }
  const body = reader.block();
  return grown({ kind: "with", items, body }, node);
}

/** Each case is a block that begins with its pattern. */
function matchOf(node: SyntaxNode, grammar: Grammar): Statement {
  const reader = new Reader(node, grammar);
  reader.skip("match");
  reader.skip("*");
  const subject = reader.expression();
  const cases = reader.done
    ? []
    : reader
        .take()
        .getChildren("MatchClause")
        .map((clause) => caseOf(clause, grammar));
  return grown({ kind: "match", subject, cases }, node);
}

function caseOf(clause: SyntaxNode, grammar: Grammar): Block {
  const guard = clause.getChild("Guard");
  const test = guard?.lastChild ? grammar.expression(guard.lastChild) : null;
  const body = clause.getChild("Body");
  const statements = body ? grammar.block(body).statements : [];
  return grown({ kind: "block", pattern: patternOf(clause, grammar), test, statements }, clause);
}

function decoratedOf(node: SyntaxNode, grammar: Grammar): Statement {
  const decorators = node.getChildren("Decorator").map((decorator) => decoratorOf(decorator, grammar));
  const definition = node.lastChild as SyntaxNode;
  return definition.name === "ClassDefinition"
    ? classOf(definition, grammar, decorators)
    : functionOf(definition, grammar, decorators);
}

/** `@a.b(c)`: lezer lists the dotted name and the arguments side by side. */
function decoratorOf(node: SyntaxNode, grammar: Grammar): Expression {
  const reader = new Reader(node, grammar);
  reader.take();
  let value = reader.expression();
  while (reader.skip(".")) {
    const name = reader.take();
    value = grown({ kind: "attribute", object: value, name: reader.text(name) }, { from: value.from, to: name.to });
  }
  if (reader.peek() !== "ArgList") return value;
  const args = argumentsOf(reader.take(), grammar);
  return grown({ kind: "call", callee: value, args }, { from: value.from, to: node.to });
}

function functionOf(node: SyntaxNode, grammar: Grammar, decorators: Expression[]): Statement {
  const name = node.getChild("VariableName");
  const list = node.getChild("ParamList");
  const hint = node.getChild("TypeDef");
  const body = grammar.block(node.getChild("Body") as SyntaxNode);
  const [id, idFrom] = name ? [grammar.text(name), name.from] : ["", node.from];
  const params = list ? paramsOf(list, grammar) : [];
  const returns = hint ? annotationOf(hint, grammar) : null;
  return grown({ kind: "function", id, idFrom, params, returns, decorators, body }, node);
}

function classOf(node: SyntaxNode, grammar: Grammar, decorators: Expression[]): Statement {
  const name = node.getChild("VariableName");
  const list = node.getChild("ArgList");
  const bases = list ? argumentsOf(list, grammar) : [];
  const body = grammar.block(node.getChild("Body") as SyntaxNode);
  const [id, idFrom] = name ? [grammar.text(name), name.from] : ["", node.from];
  return grown({ kind: "class", id, idFrom, bases, decorators, body }, node);
}

/** What the patterns of a `case` bind, and the keys of dicts that they look for. */
export function patternOf(clause: SyntaxNode, grammar: Grammar): Pattern {
  const binds: Pattern["binds"] = [];
  const keys: string[] = [];
  let end = clause.from;
  const bind = (node: SyntaxNode) => binds.push({ id: grammar.text(node), from: node.from });
  const visit = (node: SyntaxNode) => {
    if (node.name === "CapturePattern" && grammar.text(node) !== "_") bind(node);
    if (node.name === "AsPattern" && node.lastChild) bind(node.lastChild);
    if (node.name === "MappingPattern") keys.push(...keysOf(node, grammar));
    end = Math.max(end, node.to);
    for (let child = node.firstChild; child; child = child.nextSibling) visit(child);
  };
  for (let child = clause.firstChild; child && !/^(Guard|Body)$/.test(child.name); child = child.nextSibling) {
    if (child.name !== "case") visit(child);
  }
  return grown({ kind: "pattern", binds, keys }, { from: clause.from, to: end });
}

function keysOf(mapping: SyntaxNode, grammar: Grammar): string[] {
  const strings = mapping.getChildren("LiteralPattern").flatMap((literal) => literal.getChildren("String"));
  return strings.map((string) => textOf(grammar.text(string))).filter((text) => text !== null);
}
