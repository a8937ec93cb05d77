import type { Diagnostic, Workspace } from "@astral-sh/ruff-wasm-nodejs";
import { namesIn } from "./findings/guards.ts";
import { nameMessage, undefinedName } from "./findings/names.ts";
import { firstBy, type LineColumn, Lines } from "./lines.ts";
import { Program } from "./scope/program.ts";
import type { Binding } from "./scope/scopes.ts";
import { ancestors, type Node, walk } from "./tree/nodes.ts";
import { describeExcess } from "./tree/parse.ts";

/** Names that a node's code can use without importing them. A module of `lib/` does not have them. */
export const nodeGlobals = ["context", "outputs", "tasks", "json", "base64"] as const;

export interface PythonProblem extends LineColumn {
  /**
   * `size`: the code is too long or too deep to check. `name`: the line raises a NameError. `rebound`: see
   * `findReboundContext`.
   */
  kind: "size" | "syntax" | "name" | "rebound";
  message: string;
}

/**
 * Finds mistakes without running the code, except on lines with `# noqa`. If the code has a syntax error, this function
 * does not report undefined names.
 */
export async function checkPython(source: string, builtins: readonly string[] = []): Promise<PythonProblem[]> {
  const { broken, diagnostics } = await diagnose(source, builtins);
  if (broken.length > 0) return broken;
  const problems = diagnostics.map((found): PythonProblem => {
    const { row: line, column } = found.start_location;
    return { kind: "name", message: nameMessage(found.code, undefinedName(found)), line, column };
  });
  return firstBy(problems, ({ line, message }) => `${line} ${message}`);
}

/**
 * Returns the diagnostics of ruff. If `broken` lists problems with the size or the syntax of the code, nothing else can
 * be checked.
 */
export async function diagnose(
  source: string,
  builtins: readonly string[],
): Promise<{ broken: PythonProblem[]; diagnostics: Diagnostic[] }> {
  const beyond = describeExcess(source);
  if (beyond !== undefined) return { broken: [{ kind: "size", message: beyond, line: 1, column: 1 }], diagnostics: [] };
  const diagnostics = await runRuff(source, builtins);
  const syntax = diagnostics.filter(isSyntaxError).map(({ message, start_location }): PythonProblem => {
    const { row: line, column } = start_location;
    return { kind: "syntax", message: syntaxMessage(message), line, column };
  });
  // Ruff often reports the same syntax error twice on one line.
  return { broken: firstBy(syntax, ({ line }) => line), diagnostics };
}

/**
 * Returns whether a diagnostic is about the syntax. Only the codes of diagnostics about names are known, because ruff's
 * syntax errors have no code that they share.
 */
function isSyntaxError({ code }: Diagnostic): boolean {
  return code?.startsWith("F82") !== true;
}

/** Turns ruff's message about a syntax error into a sentence that says what to do. */
function syntaxMessage(words: string): string {
  const text = words.replaceAll("`", "'");
  return `Python cannot read this: ${text.charAt(0).toLowerCase()}${text.slice(1)} - correct the line`;
}

const cure = "write context.update({...}), or context.clear() and then context.update({...}) to start from nothing";

/**
 * Finds code that binds `context` to another object. Changes of that object are lost, because NOVA stores only its own
 * dict.
 */
export function findReboundContext(source: string): PythonProblem | undefined {
  const program = Program.read(source);
  return program ? findRebound(program) : undefined;
}

export function findRebound(program: Program): PythonProblem | undefined {
  const lines = new Lines(program.source);
  const found = rebindings(program).filter(({ from }) => !lines.isSilenced(lines.placeOf(from).line, "PY122"));
  const shown = found.find(makesDict) ?? found[0];
  if (!shown) return undefined;
  const advice = makesDict(shown) ? cure : "use another name for it";
  const message = `context becomes another object here, which is not kept - ${advice}`;
  return { kind: "rebound", message, ...lines.placeOf(shown.from) };
}

/**
 * Lists the bindings of the name `context` at the top level, except those that only run outside NOVA (see `isStandIn`).
 */
function rebindings(program: Program): Binding[] {
  return program
    .lookup("context", program.tree)
    .filter(({ origin, node }) => !/^(provided|augment|declared)$/.test(origin.kind) && !isStandIn(node));
}

/**
 * Returns true for a syntax node inside `except NameError: context = {...}` or `if "context" not in globals(): ...`.
 * Such code only runs outside NOVA.
 */
function isStandIn(node: Node): boolean {
  return Array.from(ancestors(node)).some((ancestor) => {
    if (ancestor.kind === "handler") {
      return ancestor.types !== null && namesIn(ancestor.types).includes("NameError");
    }
    const tests = ancestor.kind === "if" ? ancestor.branches : ancestor.kind === "while" ? [ancestor] : [];
    return tests.some(({ test }) =>
      Array.from(walk(test)).some((part) => part.kind === "text" && part.value === "context"),
    );
  });
}

/** Returns whether the value that is bound is a new dict. */
function makesDict({ origin }: Binding): boolean {
  if (origin.kind !== "value") return false;
  const { value } = origin;
  if (value.kind === "binary") return value.op === "|";
  if (value.kind === "call") return value.callee.kind === "name" && value.callee.id === "dict";
  return value.kind === "dict" || (value.kind === "comprehension" && value.form === "dict");
}

/**
 * Ruff's rules for misplaced statements (`F70`) and undefined names (`F821` to `F823`). `F722` is left out, because an
 * annotation may be any text.
 */
const rules = ["F70", "F821", "F822", "F823"];

/**
 * The version of Python whose syntax ruff accepts. It is newer than the oldest Python of a sandbox, so that ruff
 * reports no syntax that a sandbox may accept.
 */
const newestPython = "py313";

const workspaces = new Map<string, Promise<Workspace>>();

/** Runs ruff on a source. The first call loads the WebAssembly (10 MB, 60 ms). */
async function runRuff(source: string, builtins: readonly string[]): Promise<Diagnostic[]> {
  const key = builtins.join();
  const workspace = workspaces.get(key) ?? newWorkspace(builtins);
  workspaces.set(key, workspace);
  return (await workspace).check(source);
}

async function newWorkspace(builtins: readonly string[]): Promise<Workspace> {
  // The package is a CommonJS module. A bundle that is split into files sees only the default export of such a module.
  const { Workspace, PositionEncoding } = (await import("@astral-sh/ruff-wasm-nodejs")).default;
  const settings = { "target-version": newestPython, builtins, lint: { select: rules } };
  return new Workspace(settings, PositionEncoding.Utf16);
}
