import type { Finding } from "../findings/finding.ts";
import { segmentsOf } from "../findings/text.ts";
import { linesOf, positionOf, type Scan, scanJson } from "../json/scan.ts";
import { isObject } from "../json/value.ts";
import type { WorkflowSource } from "./read.ts";

interface Located {
  scan: Scan;
  text: string;
  /** The program that made the text; absent: a person wrote it. */
  program?: string | undefined;
  file: string;
}

/**
 * Adds the line of the JSON to findings without one, or the line of the program that made the JSON if it can be found.
 */
export function locate(findings: readonly Finding[], { scan, text, program, file }: Located): Finding[] {
  const placeAt = linesOf(program ?? text);
  const definition = program === undefined ? undefined : JSON.parse(text);
  return findings.map((finding) => {
    if (finding.line !== undefined) return finding;
    const path = segmentsOf(finding.path);
    const offset = program === undefined ? positionOf(scan, path).offset : offsetInProgram(program, definition, path);
    return { ...finding, file, ...(offset !== undefined && placeAt(offset)) };
  });
}

/** The file name of definitions that came over the API, which sends no program. */
const sentName = "workflow.json";

/** Moves a server's findings to the lines of the program that made the definition. */
export function locateInProgram(findings: readonly Finding[], { text, program, fileName }: WorkflowSource): Finding[] {
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
 * Finds the offset in a TypeScript program of a path into its definition: the node with that id and the field after it,
 * the edge with those ends, or a field that occurs once. Undefined if it is ambiguous.
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
