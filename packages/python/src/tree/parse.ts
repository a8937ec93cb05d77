import type { SyntaxNode, Tree } from "@lezer/common";
import { parser } from "@lezer/python";
import type { Block } from "./nodes.ts";
import { blockOf } from "./statements.ts";

/** The longest code of a node or module, in characters. The code of a large node has about 30,000. */
const maxCodeCharacters = 200_000;

/**
 * The largest number of nested levels of code. Ruff's WebAssembly overflows its stack at about 3,500, and CPython
 * refuses 200 nested brackets.
 */
const maxCodeLevels = 500;

/** Says why code is not checked and what to do; undefined if it can be checked. */
export function describeExcess(source: string): string | undefined {
  if (source.length > maxCodeCharacters) {
    const size = `the code has ${source.length.toLocaleString("en")} characters`;
    return `${size}, at most ${maxCodeCharacters.toLocaleString("en")} are checked - move functions into modules of lib/, and data into the context`;
  }
  if (source.length <= maxCodeLevels || !isTooDeep(source)) return undefined;
  return `the code goes more than ${maxCodeLevels} levels deep - divide its longest expression into several lines that each set a name`;
}

/**
 * Returns whether code is nested too deep. A bracket or an indentation counts one or two levels, and each operator of a
 * chain counts one.
 */
function isTooDeep(source: string): boolean {
  let level = 0;
  let isDeep = false;
  parser.parse(source).iterate({
    enter() {
      isDeep ||= ++level > maxCodeLevels;
      return !isDeep;
    },
    leave() {
      level--;
    },
  });
  return isDeep;
}

/**
 * Parses code. Null if it is too long or too deep, or if lezer cannot parse it: then no check may report that something
 * is missing.
 */
export function parsePython(source: string): Block | null {
  if (describeExcess(source) !== undefined) return null;
  const tree = parser.parse(source);
  if (!hasErrors(tree)) return blockOf(tree.topNode, source);
  const repaired = withoutGaps(source);
  const second = parser.parse(repaired);
  return hasErrors(second) ? null : blockOf(second.topNode, repaired);
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

/**
 * Removes three forms that lezer's grammar lacks, without moving other code: the brackets of `with (a as b, c as d):`,
 * the empty brackets in `case str():`, and a bare `yield`, which is None.
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
