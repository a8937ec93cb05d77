import type { SyntaxNode } from "@lezer/common";
import { annotationOf } from "./calls.ts";
import { compoundReaders } from "./compound.ts";
import { yieldOf } from "./expressions.ts";
import { type Block, type Expression, grown, type ImportStatement, type Statement } from "./nodes.ts";
import { expressionsOf, type Grammar, Reader, storing } from "./reader.ts";

type Read = (node: SyntaxNode, grammar: Grammar) => Statement;

const readers: Record<string, Read> = {
  ExpressionStatement: (node, grammar) =>
    grown({ kind: "expression", value: expressionsOf(new Reader(node, grammar)) }, node),
  YieldStatement: (node, grammar) =>
    grown({ kind: "expression", value: yieldOf(new Reader(node, grammar), node) }, node),
  AssignStatement: assignOf,
  UpdateStatement: augmentOf,
  DeleteStatement: deleteOf,
  ReturnStatement: returnOf,
  RaiseStatement: (node, grammar) => withValues("raise", node, grammar),
  AssertStatement: (node, grammar) => withValues("assert", node, grammar),
  PassStatement: (node) => grown({ kind: "pass" }, node),
  BreakStatement: (node) => grown({ kind: "break" }, node),
  ContinueStatement: (node) => grown({ kind: "continue" }, node),
  ScopeStatement: scopeOf,
  ImportStatement: importOf,
  ...compoundReaders,
};

/** The statements that hang in a node; `a = 1; b = 2` are two. */
function statementsOf(node: SyntaxNode, grammar: Grammar): Statement[] {
  const found: Statement[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (child.name === "StatementGroup") found.push(...statementsOf(child, grammar));
    else if (child.name in readers) found.push((readers[child.name] as Read)(child, grammar));
    else if (child.type.isError || /Statement|Definition$/.test(child.name)) {
      found.push(grown({ kind: "unknown" }, child));
    }
  }
  return found;
}

export function blockOf(node: SyntaxNode, grammar: Grammar): Block {
  const statements = statementsOf(node, grammar);
  return grown({ kind: "block", statements }, node);
}

function assignOf(node: SyntaxNode, grammar: Grammar): Statement {
  const reader = new Reader(node, grammar);
  const sides = [expressionsOf(reader)];
  const annotation = reader.peek() === "TypeDef" ? annotationOf(reader.take(), grammar) : null;
  while (reader.skip("AssignOp")) sides.push(expressionsOf(reader));
  const value = sides.length > 1 ? (sides.pop() as Expression) : null;
  const targets = sides.map(storing);
  return grown({ kind: "assign", targets, annotation, value }, node);
}

function augmentOf(node: SyntaxNode, grammar: Grammar): Statement {
  const reader = new Reader(node, grammar);
  const target = storing(expressionsOf(reader));
  const op = reader.text(reader.take());
  const value = expressionsOf(reader);
  return grown({ kind: "augment", target, op, value }, node);
}

function deleteOf(node: SyntaxNode, grammar: Grammar): Statement {
  const reader = new Reader(node, grammar);
  reader.skip("del");
  const all = expressionsOf(reader);
  const targets = all.kind === "tuple" ? all.items : [all];
  return grown({ kind: "delete", targets }, node);
}

function returnOf(node: SyntaxNode, grammar: Grammar): Statement {
  const reader = new Reader(node, grammar);
  reader.skip("return");
  const value = reader.done ? null : expressionsOf(reader);
  return grown({ kind: "return", value }, node);
}

function withValues(kind: "raise" | "assert", node: SyntaxNode, grammar: Grammar): Statement {
  const reader = new Reader(node, grammar);
  const values: Expression[] = [];
  reader.take();
  while (!reader.done) {
    if (!reader.skip(",", "from")) values.push(reader.expression());
  }
  return grown({ kind, values }, node);
}

function scopeOf(node: SyntaxNode, grammar: Grammar): Statement {
  const word = grammar.source.startsWith("global", node.from) ? ("global" as const) : ("nonlocal" as const);
  const names = node.getChildren("VariableName").map((name) => grammar.text(name));
  return grown({ kind: "scope", word, names }, node);
}

function importOf(node: SyntaxNode, grammar: Grammar): ImportStatement {
  const reader = new Reader(node, grammar);
  const isFrom = reader.peek() === "from";
  reader.take();
  const module = isFrom ? dottedName(reader).path : null;
  if (isFrom) reader.skip("import");
  const names: ImportStatement["names"] = [];
  while (!reader.done) {
    if (reader.skip("(", ")", ",")) continue;
    const named = dottedName(reader);
    names.push({ ...named, alias: reader.skip("as") ? reader.identifier() : null });
  }
  return grown({ kind: "import", module, names }, node);
}

function dottedName(reader: Reader): { path: string; from: number } {
  const first = reader.take();
  let path = reader.text(first);
  if (path === "*") return { path, from: first.from };
  while (reader.peek() === "." || (path.endsWith(".") && reader.peek() === "VariableName")) {
    path += reader.text(reader.take());
  }
  return { path, from: first.from };
}
