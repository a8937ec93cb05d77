import { diagnose, findRebound, nodeGlobals } from "./check-python.ts";
import { findFailingImports } from "./findings/imports.ts";
import { findContextAttributes, findMissingKeys } from "./findings/keys.ts";
import { nameProblem } from "./findings/names.ts";
import { findLostResult, findMissingResult, findUndecided } from "./findings/result.ts";
import {
  type CodeFinding,
  codeFindings,
  type NodeFacts,
  type Problem,
  readSubject,
  type Subject,
} from "./findings/subject.ts";
import { findUnfitDumps, findUnfitValues } from "./findings/unfit.ts";
import { firstBy, Lines } from "./lines.ts";
import { Program } from "./scope/program.ts";

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
