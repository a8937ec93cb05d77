import type { SyntaxNode } from "@lezer/common";
import {
  annotationAt,
  annotationOf,
  argumentsOf,
  childrenOf,
  expressionOf,
  expressionsOf,
  one,
  paramsOf,
  perhaps,
  Reader,
  rule,
  sliceOf,
  storing,
  target,
  textOf,
  word,
  yieldOf,
} from "./expressions.ts";
import type { Block, Expression, Handler, ImportStatement, Pattern, Statement } from "./nodes.ts";
import { makeNode } from "./nodes.ts";

type Read = (node: SyntaxNode, source: string) => Statement;

const block = (reader: Reader) => blockOf(reader.take(), reader.source);
const otherwise = (reader: Reader) => (reader.skip("else") ? block(reader) : null);

const readers: Record<string, Read> = {
  ExpressionStatement: rule("expression", { value: expressionsOf }),
  YieldStatement: (node, source) => makeNode({ kind: "expression", value: yieldOf(node, source) }, node),
  AssignStatement: assignOf,
  UpdateStatement: rule("augment", { target, op: word, value: expressionsOf }),
  DeleteStatement: rule("delete", "del", { targets: deletedBy }),
  ReturnStatement: rule("return", "return", { value: perhaps }),
  RaiseStatement: rule("raise", "raise", { values: valuesOf }),
  AssertStatement: rule("assert", "assert", { values: valuesOf }),
  PassStatement: rule("pass"),
  BreakStatement: rule("break"),
  ContinueStatement: rule("continue"),
  ScopeStatement: scopeOf,
  ImportStatement: importOf,
  IfStatement: rule("if", { branches: branchesOf, otherwise }),
  WhileStatement: rule("while", "while", { test: one, body: block, otherwise }),
  ForStatement: rule("for", "async", "for", { target }, "in", { iterable: expressionsOf, body: block, otherwise }),
  TryStatement: rule("try", "try", { body: block, handlers: handlersOf, rest: restOf }),
  WithStatement: rule("with", "async", "with", { items: itemsOf, body: block }),
  MatchStatement: rule("match", "match", "*", { subject: one, cases: casesOf }),
  FunctionDefinition: definitionOf,
  ClassDefinition: definitionOf,
  DecoratedStatement: decoratedOf,
};

/** Reads the statements in a lezer node; `a = 1; b = 2` is one lezer node with two statements. */
function statementsOf(node: SyntaxNode, source: string): Statement[] {
  return Array.from(childrenOf(node)).flatMap((child): Statement[] => {
    if (child.name === "StatementGroup") return statementsOf(child, source);
    if (child.name in readers) return [(readers[child.name] as Read)(child, source)];
    const isUnknown = child.type.isError || /Statement|Definition$/.test(child.name);
    return isUnknown ? [makeNode({ kind: "unknown" }, child)] : [];
  });
}

export function blockOf(node: SyntaxNode, source: string): Block {
  const statements = statementsOf(node, source);
  return makeNode({ kind: "block", statements }, node);
}

function assignOf(node: SyntaxNode, source: string): Statement {
  const reader = new Reader(node, source);
  const sides = [expressionsOf(reader)];
  const annotation = annotationAt(reader);
  while (reader.skip("AssignOp")) sides.push(expressionsOf(reader));
  const value = sides.length > 1 ? (sides.pop() as Expression) : null;
  const targets = sides.map(storing);
  return makeNode({ kind: "assign", targets, annotation, value }, node);
}

function deletedBy(reader: Reader): Expression[] {
  const all = expressionsOf(reader);
  return all.kind === "tuple" ? all.items : [all];
}

/** Reads the values of `raise x from y` and `assert x, y`. */
function valuesOf(reader: Reader): Expression[] {
  return reader.listed(/^$/, () => {
    reader.skip("from");
    return reader.expression();
  });
}

function scopeOf(node: SyntaxNode, source: string): Statement {
  const word = source.startsWith("global", node.from) ? ("global" as const) : ("nonlocal" as const);
  const names = node.getChildren("VariableName").map((name) => sliceOf(name, source));
  return makeNode({ kind: "scope", word, names }, node);
}

function importOf(node: SyntaxNode, source: string): ImportStatement {
  const reader = new Reader(node, source);
  const isFrom = reader.peek() === "from";
  reader.take();
  const module = isFrom ? dottedName(reader).path : null;
  if (isFrom) reader.skip("import");
  reader.skip("(");
  const names = reader.listed(/^\)$/, () => ({
    ...dottedName(reader),
    alias: reader.skip("as") ? reader.identifier() : null,
  }));
  return makeNode({ kind: "import", module, names }, node);
}

function dottedName(reader: Reader): { path: string; from: number } {
  const first = reader.take();
  let path = reader.text(first);
  if (path === "*") return { path, from: first.from };
  while (reader.peek() === "." || (path.endsWith(".") && reader.peek() === "VariableName")) path += word(reader);
  return { path, from: first.from };
}

function branchesOf(reader: Reader): { test: Expression; body: Block }[] {
  const branches = [];
  while (reader.skip("if", "elif")) branches.push({ test: reader.expression(), body: block(reader) });
  return branches;
}

function handlersOf(reader: Reader): Handler[] {
  const handlers: Handler[] = [];
  while (reader.peek() === "except") handlers.push(handlerOf(reader));
  return handlers;
}

function handlerOf(reader: Reader): Handler {
  const { from } = reader.take();
  reader.skip("*");
  const types = reader.peek() === "Body" ? null : reader.expression();
  const name = reader.skip("as", ",") ? reader.identifier() : null;
  const body = block(reader);
  return makeNode({ kind: "handler", types, name, body }, { from, to: body.to });
}

function restOf(reader: Reader): Block[] {
  const rest: Block[] = [];
  while (reader.skip("else", "finally")) rest.push(block(reader));
  return rest;
}

function itemsOf(reader: Reader): { value: Expression; target: Expression | null }[] {
  return reader.listed(/^Body$/, () => ({
    value: reader.expression(),
    target: reader.skip("as") ? storing(reader.expression()) : null,
  }));
}

/** Reads each case of a `match` as a block whose first child is the pattern. */
function casesOf(reader: Reader): Block[] {
  const clauses = reader.done ? [] : reader.take().getChildren("MatchClause");
  return clauses.map((clause) => caseOf(clause, reader.source));
}

function caseOf(clause: SyntaxNode, source: string): Block {
  const guard = clause.getChild("Guard");
  const test = guard?.lastChild ? expressionOf(guard.lastChild, source) : null;
  const body = clause.getChild("Body");
  const statements = body ? blockOf(body, source).statements : [];
  return makeNode({ kind: "block", pattern: patternOf(clause, source), test, statements }, clause);
}

function decoratedOf(node: SyntaxNode, source: string): Statement {
  const decorators = node.getChildren("Decorator").map((decorator) => decoratorOf(decorator, source));
  return definitionOf(node.lastChild as SyntaxNode, source, decorators);
}

/** Reads `@a.b(c)`: lezer lists the dotted name and the arguments side by side. */
function decoratorOf(node: SyntaxNode, source: string): Expression {
  const reader = new Reader(node, source);
  reader.take();
  let value = reader.expression();
  while (reader.skip(".")) {
    const name = reader.take();
    value = makeNode({ kind: "attribute", object: value, name: reader.text(name) }, { from: value.from, to: name.to });
  }
  if (reader.peek() !== "ArgList") return value;
  const args = argumentsOf(reader.take(), source);
  return makeNode({ kind: "call", callee: value, args }, { from: value.from, to: node.to });
}

function definitionOf(node: SyntaxNode, source: string, decorators: Expression[] = []): Statement {
  const name = node.getChild("VariableName");
  const [id, idFrom] = name ? [sliceOf(name, source), name.from] : ["", node.from];
  const body = blockOf(node.getChild("Body") as SyntaxNode, source);
  if (node.name === "ClassDefinition") {
    const list = node.getChild("ArgList");
    const bases = list ? argumentsOf(list, source) : [];
    return makeNode({ kind: "class", id, idFrom, bases, decorators, body }, node);
  }
  const [list, hint] = [node.getChild("ParamList"), node.getChild("TypeDef")];
  const params = list ? paramsOf(list, source) : [];
  const returns = hint ? annotationOf(hint, source) : null;
  return makeNode({ kind: "function", id, idFrom, params, returns, decorators, body }, node);
}

/** Reads the names that the patterns of a `case` bind, and the dict keys that they require. */
function patternOf(clause: SyntaxNode, source: string): Pattern {
  const binds: Pattern["binds"] = [];
  const keys: string[] = [];
  let end = clause.from;
  const bind = (node: SyntaxNode) => binds.push({ id: sliceOf(node, source), from: node.from });
  const visit = (node: SyntaxNode) => {
    if (node.name === "CapturePattern" && sliceOf(node, source) !== "_") bind(node);
    if (node.name === "AsPattern" && node.lastChild) bind(node.lastChild);
    if (node.name === "MappingPattern") keys.push(...keysOf(node, source));
    end = Math.max(end, node.to);
    for (const child of childrenOf(node)) visit(child);
  };
  for (const child of childrenOf(clause)) {
    if (/^(Guard|Body)$/.test(child.name)) break;
    if (child.name !== "case") visit(child);
  }
  return makeNode({ kind: "pattern", binds, keys }, { from: clause.from, to: end });
}

function keysOf(mapping: SyntaxNode, source: string): string[] {
  const strings = mapping.getChildren("LiteralPattern").flatMap((literal) => literal.getChildren("String"));
  return strings.map((string) => textOf(sliceOf(string, source))).filter((text) => text !== null);
}
