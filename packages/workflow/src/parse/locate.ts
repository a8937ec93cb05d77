import type { Finding } from "../findings/finding.ts";
import { segmentsOf } from "../findings/path.ts";
import { linesOf, placeOf, type Scan, scanJson } from "../json/scan.ts";
import { offsetInProgram } from "./in-program.ts";
import type { WorkflowSource } from "./source.ts";

interface Located {
  scan: Scan;
  text: string;
  /** The program that made the text; absent: somebody wrote it. */
  program?: string | undefined;
  file: string;
}

/**
 * Findings with the line of the JSON that they are about, where they do not know a place yet; of what a program made with
 * the line of the program, as far as it can be told.
 */
export function locate(findings: readonly Finding[], { scan, text, program, file }: Located): Finding[] {
  const placeAt = linesOf(program ?? text);
  const definition = program === undefined ? undefined : JSON.parse(text);
  return findings.map((finding) => {
    if (finding.line !== undefined) return finding;
    const path = segmentsOf(finding.path);
    const offset = program === undefined ? placeOf(scan, path).offset : offsetInProgram(program, definition, path);
    return { ...finding, file, ...(offset !== undefined && placeAt(offset)) };
  });
}

/** The name that a definition has where it came over the API, which sends no program. */
const sentName = "workflow.json";

/** What a server found in a definition, with the lines of the program that made it. */
export function relocate(findings: readonly Finding[], { text, program, fileName }: WorkflowSource): Finding[] {
  if (program === undefined) return [...findings];
  const isOfText = ({ file, line }: Finding) => file === sentName || (file === undefined && line === undefined);
  const scan = scanJson(text);
  return findings.map((finding) => {
    if (!isOfText(finding)) return finding;
    const { file: _file, line: _line, column: _column, ...unplaced } = finding;
    return { ...finding, ...locate([unplaced], { scan, text, program, file: fileName })[0] };
  });
}
