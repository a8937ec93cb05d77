import type { SyntaxNode } from "@lezer/common";
import { comprehensionOf } from "./displays.ts";
import { type Argument, type Expression, grown, type Param } from "./nodes.ts";
import { type Grammar, Reader } from "./reader.ts";

export function callOf(node: SyntaxNode, grammar: Grammar): Expression {
  const reader = new Reader(node, grammar);
  const callee = reader.expression();
  const args = argumentsOf(reader.take(), grammar);
  return grown({ kind: "call", callee, args }, node);
}

export function argumentsOf(list: SyntaxNode, grammar: Grammar): Argument[] {
  const reader = new Reader(list, grammar);
  const args: Argument[] = [];
  reader.skip("(");
  while (!reader.done && reader.peek() !== ")") {
    args.push(argumentOf(reader));
    reader.skip(",");
  }
  return args;
}

function argumentOf(reader: Reader): Argument {
  const stars = reader.peek() === "**" ? 2 : reader.peek() === "*" ? 1 : 0;
  const from = stars > 0 ? reader.take().from : null;
  let value = reader.expression();
  let name: string | null = null;
  if (reader.peek() === "AssignOp") {
    const isWalrus = reader.text(reader.take()) === ":=";
    const right = reader.expression();
    if (isWalrus && value.kind === "name") {
      value.stores = true;
      value = grown({ kind: "walrus", target: value as Expression, value: right }, { from: value.from, to: right.to });
    } else {
      name = value.kind === "name" ? value.id : "";
      value = right;
    }
  }
  if (/^(for|async)$/.test(reader.peek())) {
    value = comprehensionOf("generator", { key: null, value }, value, reader);
  }
  return grown({ kind: "argument", name, stars, value }, { from: from ?? value.from, to: value.to });
}

export function lambdaOf(node: SyntaxNode, grammar: Grammar): Expression {
  const reader = new Reader(node, grammar);
  reader.skip("lambda");
  const params = reader.peek() === "ParamList" ? paramsOf(reader.take(), grammar) : [];
  reader.skip(":");
  const body = reader.expression();
  return grown({ kind: "lambda", params, body }, node);
}

export function paramsOf(list: SyntaxNode, grammar: Grammar): Param[] {
  const reader = new Reader(list, grammar);
  const params: Param[] = [];
  reader.skip("(");
  while (!reader.done && reader.peek() !== ")") {
    const param = paramOf(reader);
    if (param) params.push(param);
    reader.skip(",");
  }
  return params;
}

/** Null for the bare `*` and `/`. */
function paramOf(reader: Reader): Param | null {
  const stars = reader.peek() === "**" ? 2 : reader.peek() === "*" ? 1 : 0;
  if (stars > 0 || reader.peek() === "/") reader.take();
  if (reader.peek() !== "VariableName") return null;
  const name = reader.take();
  const annotation = reader.peek() === "TypeDef" ? annotationOf(reader.take(), reader.grammar) : null;
  const fallback = reader.skip("AssignOp") ? reader.expression() : null;
  const to = fallback?.to ?? annotation?.to ?? name.to;
  return grown({ kind: "param", id: reader.text(name), stars, annotation, fallback }, { from: name.from, to });
}

/** Of `: int` and `-> int`. */
export function annotationOf(node: SyntaxNode, grammar: Grammar): Expression | null {
  const reader = new Reader(node, grammar);
  reader.skip(":");
  return reader.done ? null : reader.expression();
}
