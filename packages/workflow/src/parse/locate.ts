import type { Finding } from "../findings/finding.ts";
import { segmentsOf } from "../findings/text.ts";
import { linesOf, placeOf, type Scan, scanJson } from "../json/scan.ts";
import { isObject } from "../json/value.ts";
import type { WorkflowSource } from "./read.ts";

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

const kinds = "start|end|action|decision|approval|wait|workflow|map";

/**
 * Where a TypeScript program says what a path into its definition names, as an offset: the node of that id and, behind
 * it, the field; the edge with those ends; else a field that it has once. Undefined where that cannot be told.
 */
function offsetInProgram(program: string, definition: unknown, path: readonly (string | number)[]): number | undefined {
  const at = path.findLastIndex(
    (step, index) => typeof step === "number" && /^(nodes|edges)$/.test(`${path[index - 1]}`),
  );
  const field = path.slice(at + 1).find((step) => typeof step === "string");
  if (at < 0) return field === undefined ? 0 : onlyMatch(program, `(?<![\\w.])["']?${literal(field)}["']?\\s*:`);
  const { id, from, to } = thingAt(definition, path.slice(0, at + 1));
  if (path[at - 1] === "edges") {
    const end = (name: string, value: unknown) => `["']?${name}["']?\\s*:\\s*["'\`]${literal(value)}["'\`]`;
    return onlyMatch(program, `${end("from", from)}\\s*,\\s*${end("to", to)}`);
  }
  const start = onlyMatch(program, `(?<![\\w.])["']?${literal(id)}["']?\\s*:\\s*(${kinds})\\s*\\(`);
  if (start === undefined || field === undefined) return start;
  const [first = "", ...rest] = program.slice(start).split(new RegExp(`(?=:\\s*(?:${kinds})\\s*\\()`));
  const own = `${first}${rest[0] ?? ""}`;
  const inside = own.slice(1).search(new RegExp(`(?<![\\w.])["']?${literal(field)}["']?\\s*[:,}]`));
  return inside < 0 ? start : start + 1 + inside;
}

function thingAt(definition: unknown, path: readonly (string | number)[]): Record<string, unknown> {
  const found = path.reduce<unknown>((value, step) => (value as Record<string | number, unknown>)?.[step], definition);
  return isObject(found) ? found : {};
}

function onlyMatch(program: string, pattern: string): number | undefined {
  const [first, ...others] = program.matchAll(new RegExp(pattern, "g"));
  return others.length === 0 ? first?.index : undefined;
}

function literal(text: unknown): string {
  return String(text).replaceAll(/[^\w]/g, "\\$&");
}
