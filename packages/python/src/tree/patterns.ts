import type { SyntaxNode } from "@lezer/common";
import { grown, type Pattern } from "./nodes.ts";
import type { Grammar } from "./reader.ts";
import { textOf } from "./strings.ts";

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
  return grown({ kind: "pattern" as const, binds, keys }, clause.from, end, []);
}

function keysOf(mapping: SyntaxNode, grammar: Grammar): string[] {
  const strings = mapping.getChildren("LiteralPattern").flatMap((literal) => literal.getChildren("String"));
  return strings.map((string) => textOf(grammar.text(string))).filter((text) => text !== null);
}
