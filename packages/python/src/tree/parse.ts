import type { SyntaxNode, Tree } from "@lezer/common";
import { parser } from "@lezer/python";
import { expressionOf, isExpression } from "./expressions.ts";
import type { Block } from "./nodes.ts";
import type { Grammar } from "./reader.ts";
import { withoutGaps } from "./repair.ts";
import { blockOf } from "./statements.ts";

/**
 * The tree of a source that Python can read. Null where lezer's grammar does not know a form of it: then nothing may be
 * said about what the code does not do.
 */
export function parsePython(source: string): Block | null {
  const tree = parser.parse(source);
  if (!hasErrors(tree)) return blockOf(tree.topNode, grammarOf(source));
  const repaired = withoutGaps(source);
  const second = parser.parse(repaired);
  return hasErrors(second) ? null : blockOf(second.topNode, grammarOf(repaired));
}

function hasErrors(tree: Tree): boolean {
  let found = false;
  tree.iterate({
    enter: ({ type }: Pick<SyntaxNode, "type">) => {
      found ||= type.isError;
      return !found;
    },
  });
  return found;
}

function grammarOf(source: string): Grammar {
  const grammar: Grammar = {
    source,
    text: ({ from, to }) => source.slice(from, to),
    isExpression,
    expression: (node) => expressionOf(node, grammar),
    block: (node) => blockOf(node, grammar),
  };
  return grammar;
}
