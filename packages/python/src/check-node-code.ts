import { diagnose, findRebound, nodeGlobals } from "./check-python.ts";
import { findFailingImports } from "./findings/imports.ts";
import { findContextAttributes, findMissingKeys } from "./findings/keys.ts";
import { nameProblem } from "./findings/names.ts";
import { findLostResult, findMissingResult, findUndecided } from "./findings/result.ts";
import type { CodeFinding, NodeFacts, Problem, Subject } from "./findings/subject.ts";
import { codeFindings, readSubject } from "./findings/subject.ts";
import type { Change } from "./flow/changes.ts";
import type { Path } from "./flow/paths.ts";
import { readDumps } from "./flow/printed.ts";
import { firstBy, Lines } from "./lines.ts";
import { Program } from "./scope/program.ts";
import { ancestorPairs, type Node } from "./tree/nodes.ts";
import { findUnfit, type Unfit } from "./values/types.ts";

const checks = [
  findMissingKeys,
  findContextAttributes,
  findMissingResult,
  findLostResult,
  findUndecided,
  findFailingImports,
  findUnfitValues,
  findUnfitDumps,
] satisfies ((subject: Subject) => Problem[])[];

/**
 * Finds mistakes in the code of a node without running it. If the `facts` are correct, every reported error is a
 * mistake. A check that needs unknown facts is skipped. `# noqa` silences a line.
 */
export async function checkNodeCode(source: string, facts: NodeFacts): Promise<CodeFinding[]> {
  const { broken, diagnostics } = await diagnose(source, nodeGlobals);
  if (broken.length > 0)
    return broken.map(({ kind, ...problem }) => findingOf({ code: kind === "size" ? "PY105" : "PY101", ...problem }));
  const lines = new Lines(source);
  const program = Program.read(source);
  const found = diagnostics.flatMap((diagnostic) => {
    const { row: line, column } = diagnostic.start_location;
    const problem = nameProblem(diagnostic, program, lines.offsetOf(line, column), facts.context);
    return problem ? [findingOf({ ...problem, line, column })] : [];
  });
  if (program) {
    const rebound = findRebound(program);
    if (rebound) found.push(findingOf({ code: "PY122", ...rebound }));
    const subject = readSubject(program, facts);
    const problems = checks.flatMap((check) => check(subject));
    found.push(...problems.map(({ at, ...problem }) => findingOf({ ...problem, ...lines.placeOf(at) })));
  }
  const shown = found.filter(({ code, line }) => !lines.isSilenced(line, code));
  // If an error and a warning have the same message and line, only the error is reported.
  const errorsFirst = shown.toSorted((a, b) => a.severity.localeCompare(b.severity));
  const unique = firstBy(errorsFirst, ({ line, message }) => `${line} ${message}`);
  return unique.sort((a, b) => a.line - b.line || a.column - b.column);
}

function findingOf({ code, message, line, column }: Omit<CodeFinding, "severity">): CodeFinding {
  return { code, line, column, message, severity: codeFindings[code] };
}

/** Finds PY150: values that the context cannot store and that no later change replaces. */
function findUnfitValues(subject: Subject): Problem[] {
  const { program, typeOf, changes } = subject;
  return changes.flatMap((change): Problem[] => {
    const { path, value } = change;
    if (change.kind === "delete" || !path || !value) return [];
    const unfit = findUnfit(program, typeOf, value);
    if (!unfit || isPutRight(change, path, subject)) return [];
    const name = formatPath(change.kind === "any" ? [...path, "[]"] : path);
    const message = `context key "${name}${unfit.path}" gets ${unfit.what}, which cannot be kept as JSON - ${unfit.cure}`;
    return [{ code: "PY150", at: value.from, message }];
  });
}

function formatPath(path: Path): string {
  const name = path.map((key) => (key === "[]" ? "[]" : `.${key}`)).join("");
  return name.startsWith(".") ? name.slice(1) : name;
}

function isPutRight(change: Change, path: Path, { program, typeOf, changes }: Subject): boolean {
  return changes.some((other) => {
    if (other === change || other.node === change.node) return false;
    if (change.kind === "any") return other.node.from > change.node.from || other.kind === "delete";
    const covers = !other.path || (other.path.length <= path.length && other.path.every((key, at) => key === path[at]));
    if (!covers) return false;
    if (other.kind === "any") return (other.path?.length ?? 0) < path.length && other.node.from > change.node.from;
    if (other.kind === "delete") return true;
    return !other.value || findUnfit(program, typeOf, other.value) === undefined;
  });
}

/** Finds PY151: values that json.dumps rejects. */
function findUnfitDumps({ program, typeOf }: Subject): Problem[] {
  return readDumps(program).flatMap(({ call, value }): Problem[] => {
    const isAided = call.args.some(({ name, stars }) => stars > 0 || /^(default|cls|skipkeys)$/.test(name ?? ""));
    if (!value || isAided || !program.mayRun(call) || isTried(call)) return [];
    const unfit: Unfit | undefined = findUnfit(program, typeOf, value, true);
    if (!unfit) return [];
    const place = unfit.path === "" ? "it is given" : `"${unfit.path.replace(/^\./, "")}" is`;
    const message = `json.dumps cannot write what ${place}, ${unfit.what} - ${unfit.cure}`;
    return [{ code: "PY151", at: unfit.node.from, message }];
  });
}

function isTried(node: Node): boolean {
  return Array.from(ancestorPairs(node)).some(
    ([ancestor, child]) => ancestor.kind === "try" && ancestor.body === child && ancestor.handlers.length > 0,
  );
}
