import { parser } from "@lezer/python";

/** Of one node or module. The code of a large node has about 30,000. */
export const maxCodeCharacters = 200_000;

/**
 * Ruff's WebAssembly overflows its stack at some 3,500 levels and never works again; CPython refuses 200 brackets in
 * each other, or about 2,000 operators in a row.
 */
export const maxCodeLevels = 500;

/** Why code is not checked, with the way out; undefined where it can be. */
export function beyondBounds(source: string): string | undefined {
  if (source.length > maxCodeCharacters) {
    const size = `the code has ${source.length.toLocaleString("en")} characters`;
    return `${size}, at most ${maxCodeCharacters.toLocaleString("en")} are checked - move functions into modules of lib/, and data into the context`;
  }
  if (source.length <= maxCodeLevels || !isTooDeep(source)) return undefined;
  return `the code goes more than ${maxCodeLevels} levels deep - divide its longest expression into several lines that each set a name`;
}

/** Levels of the syntax tree: a bracket or an indentation makes one or two, each further operator of a chain one. */
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
