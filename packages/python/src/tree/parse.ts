import type { SyntaxNode, Tree } from "@lezer/common";
import { parser } from "@lezer/python";
import { expressionOf, isExpression } from "./expressions.ts";
import type { Block } from "./nodes.ts";
import type { Grammar } from "./reader.ts";
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

/**
 * The same source, at the same places, without three forms that lezer's grammar lacks: `with (a as b, c as d):` loses its
 * brackets, `case str():` the empty ones of its class, and a bare `yield` is None.
 */
function withoutGaps(source: string): string {
  const cases = source.replace(/^[ \t]*case\b.*$/gm, (line) =>
    line.replace(/(?<=\w)\(\s*\)/g, (brackets) => " ".repeat(brackets.length)),
  );
  return withoutBrackets(cases.replace(/^([ \t]*)yield(?=[ \t]*(#.*)?$)/gm, "$1None "));
}

function withoutBrackets(source: string): string {
  let text = source;
  for (const { index, 0: start } of source.matchAll(/\bwith[ \t]*\(/g)) {
    const open = index + start.length - 1;
    const close = closingOf(text, open);
    if (close === undefined || !/^\s*:/.test(text.slice(close + 1))) continue;
    const inside = text.slice(open + 1, close);
    if (!/\bas\b/.test(inside)) continue;
    const flat = inside.replace(/#.*$/gm, blanks).replace(/[\r\n]/g, " ");
    const clean = flat.replace(/,(\s*)$/, " $1");
    text = `${text.slice(0, open)} ${clean} ${text.slice(close + 1)}`;
  }
  return text;
}

function blanks(text: string): string {
  return " ".repeat(text.length);
}

function closingOf(text: string, open: number): number | undefined {
  let depth = 0;
  for (const { index, 0: token } of text
    .slice(open)
    .matchAll(/[()[\]{}]|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#.*/g)) {
    if (/^[([{]$/.test(token)) depth++;
    if (/^[)\]}]$/.test(token) && --depth === 0) return open + index;
  }
  return undefined;
}
