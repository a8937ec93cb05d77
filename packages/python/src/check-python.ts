import type { Diagnostic } from "@astral-sh/ruff-wasm-nodejs";
import { nameMessage, undefinedName } from "./findings/names.ts";
import { firstBy, type LineColumn } from "./lines.ts";
import { runRuff } from "./ruff.ts";
import { describeExcess } from "./tree/parse.ts";

/** Names that a node's code can use without importing them. A module of `lib/` does not have them. */
export const nodeGlobals = ["context", "outputs", "tasks", "json", "base64"] as const;

export interface PythonProblem extends LineColumn {
  /**
   * `size`: the code is too long or too deep to check. `syntax`: Python cannot parse the code. `name`: this line raises
   * a NameError. `rebound`: see findReboundContext.
   */
  kind: "size" | "syntax" | "name" | "rebound";
  /** One sentence that says what to do. */
  message: string;
}

/**
 * Finds the mistakes that are visible without running the code. `# noqa` silences a line. Code with a syntax error gets
 * no findings about names, because Python cannot tell what it defines.
 */
export async function checkPython(source: string, builtins: readonly string[] = []): Promise<PythonProblem[]> {
  const beyond = describeExcess(source);
  if (beyond !== undefined) return [{ kind: "size", message: beyond, line: 1, column: 1 }];
  const problems = (await runRuff(source, builtins)).map(problemOf);
  const syntax = problems.filter((problem) => problem.kind === "syntax");
  // Ruff often reports one mistake twice on its line.
  return syntax.length > 0
    ? firstBy(syntax, ({ line }) => line)
    : firstBy(problems, ({ line, message }) => `${line} ${message}`);
}

function problemOf(found: Diagnostic): PythonProblem {
  const { row: line, column } = found.start_location;
  if (isSyntaxError(found)) return { kind: "syntax", message: syntaxMessage(found.message), line, column };
  return { kind: "name", message: nameMessage(found.code, undefinedName(found)), line, column };
}

/** Ruff gives syntax errors no code of their own. */
export function isSyntaxError({ code }: Diagnostic): boolean {
  return code?.startsWith("F82") !== true;
}

/** Turns ruff's message about a syntax error into a sentence that says what to do. */
export function syntaxMessage(words: string): string {
  const text = words.replaceAll("`", "'");
  return `Python cannot read this: ${text.charAt(0).toLowerCase()}${text.slice(1)} - correct the line`;
}
