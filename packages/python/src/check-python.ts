import type { Diagnostic } from "@astral-sh/ruff-wasm-nodejs";
import { nameMessage, nameOf } from "./findings/names.ts";
import { firstBy, type LineColumn } from "./lines.ts";
import { runRuff } from "./ruff.ts";
import { beyondBounds } from "./tree/parse.ts";

/** Names that a node's code has without importing them; a module of `lib/` has none of them. */
export const nodeGlobals = ["context", "outputs", "tasks", "json", "base64"] as const;

export interface PythonProblem extends LineColumn {
  /**
   * `size`: the code is too long or too deep to be checked. `syntax`: Python cannot read the code. `name`: it will stop with a NameError where this line runs. `rebound`: see
   * reboundContext.
   */
  kind: "size" | "syntax" | "name" | "rebound";
  /** One sentence, with the way out. */
  message: string;
}

/**
 * Mistakes that can be seen without running the code. `# noqa` silences a line, as everywhere with ruff. With a syntax
 * error there is no word about names: what Python cannot read defines nothing.
 */
export async function checkPython(source: string, builtins: readonly string[] = []): Promise<PythonProblem[]> {
  const beyond = beyondBounds(source);
  if (beyond !== undefined) return [{ kind: "size", message: beyond, line: 1, column: 1 }];
  const problems = (await runRuff(source, builtins)).map(problemOf);
  const syntax = problems.filter((problem) => problem.kind === "syntax");
  // One mistake often makes ruff complain twice on its line.
  return syntax.length > 0
    ? firstBy(syntax, ({ line }) => line)
    : firstBy(problems, ({ line, message }) => `${line} ${message}`);
}

function problemOf(found: Diagnostic): PythonProblem {
  const { row: line, column } = found.start_location;
  if (isSyntaxError(found)) return { kind: "syntax", message: syntaxMessage(found.message), line, column };
  return { kind: "name", message: nameMessage(found.code, nameOf(found)), line, column };
}

/** Ruff has no code of its own for what Python's grammar does not allow. */
export function isSyntaxError({ code }: Diagnostic): boolean {
  return code?.startsWith("F82") !== true;
}

/** Ruff's words about a syntax error, as a sentence with the way out. */
export function syntaxMessage(words: string): string {
  const text = words.replaceAll("`", "'");
  return `Python cannot read this: ${text.charAt(0).toLowerCase()}${text.slice(1)} - correct the line`;
}
