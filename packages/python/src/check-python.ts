import type { Diagnostic } from "@astral-sh/ruff-wasm-nodejs";
import { parser } from "@lezer/python";
import { runRuff } from "./ruff.ts";

/** Of one node or module. The code of a large node has about 30,000. */
const maxCodeCharacters = 200_000;

/**
 * Ruff's WebAssembly overflows its stack at some 3,500 levels and never works again; CPython refuses 200 brackets in
 * each other, or about 2,000 operators in a row.
 */
const maxCodeLevels = 500;

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

/** Names that a node's code has without importing them; a module of `lib/` has none of them. */
export const nodeGlobals = ["context", "outputs", "tasks", "json", "base64"] as const;

export interface PythonProblem {
  /**
   * `size`: the code is too long or too deep to be checked. `syntax`: Python cannot read the code. `name`: it will stop with a NameError where this line runs. `rebound` and
   * `lost`: see reboundContext.
   */
  kind: "size" | "syntax" | "name" | "rebound" | "lost";
  /** One sentence, with the way out. */
  message: string;
  file?: string;
  /** From 1; columns count UTF-16 units, as editors do. */
  line: number;
  column: number;
}

/**
 * Mistakes that can be seen without running the code. `# noqa` silences a line, as everywhere with ruff. With a syntax
 * error there is no word about names: what Python cannot read defines nothing.
 */
export async function checkPython(
  source: string,
  { fileName, builtins = [] }: { fileName?: string; builtins?: readonly string[] } = {},
): Promise<PythonProblem[]> {
  const place = { ...(fileName !== undefined && { file: fileName }), line: 1, column: 1 };
  const beyond = beyondBounds(source);
  if (beyond !== undefined) return [{ kind: "size", message: beyond, ...place }];
  const problems = (await runRuff(source, builtins)).map((found) => problemOf(found, fileName));
  const syntax = problems.filter((problem) => problem.kind === "syntax");
  return firstOfLines(syntax.length > 0 ? syntax : problems);
}

function problemOf({ code, message, start_location: start }: Diagnostic, file: string | undefined): PythonProblem {
  const place = { ...(file !== undefined && { file }), line: start.row, column: start.column };
  const name = code?.startsWith("F82") ? /`(.+?)`/.exec(message)?.[1] : undefined;
  if (name === undefined) {
    return { kind: "syntax", message: syntaxMessage(message), ...place };
  }
  return { kind: "name", message: nameMessage(code, name), ...place };
}

/** Ruff has no code of its own for what Python's grammar does not allow. */
export function isSyntaxError({ code }: Diagnostic): boolean {
  return code?.startsWith("F82") !== true;
}

/** Ruff's words about a syntax error, as a sentence with the way out. */
export function syntaxMessage(words: string): string {
  return `Python cannot read this: ${plain(words)} - correct the line`;
}

function nameMessage(code: string | null, name: string): string {
  if (code === "F823") return `the local name "${name}" is read before it is set - set it first, or declare it global`;
  if (code === "F822") return `__all__ lists the undefined name "${name}" - define it, or remove it from the list`;
  return `the name "${name}" is not defined - import it, set it before, or read it from context["${name}"]`;
}

function plain(message: string): string {
  const text = message.replaceAll("`", "'");
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** One mistake often makes ruff complain twice on its line. */
function firstOfLines(problems: readonly PythonProblem[]): PythonProblem[] {
  const isNew = new Set<string>();
  return problems.filter(({ kind, message, line }) => {
    const key = kind === "syntax" ? `${line}` : `${line} ${message}`;
    return isNew.has(key) ? false : isNew.add(key);
  });
}
