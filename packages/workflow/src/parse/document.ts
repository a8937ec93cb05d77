import { at, type Finding, finding, segmentsOf } from "../findings/finding.ts";
import { type Exactly, isObject, keepingDigits, type Loose } from "../json/exact.ts";
import { halfCharacterIn, linesOf, NotJson, positionOf, type Scan, scanJson } from "../json/scan.ts";
import type { WorkflowSource } from "./read.ts";

export interface Document extends Body {
  scan: Scan;
  text: string;
  exactly: Exactly;
}

interface Body {
  body: Loose;
  /** Returns the path of a top-level field, which may be inside `graph_definition`. */
  pathOf(field: string): string;
}

const halfCharacter =
  "half a character is there (a surrogate without its other half), which no node could read - write both halves, or neither";
const inside = "$.graph_definition";
const shape = 'write { "nodes": [...], "edges": [...] }';

export function readDocument({ text: raw, fileName, program }: WorkflowSource) {
  const text = raw.replace(/^\uFEFF/, "");
  const scan = scanned(text);
  if (scan instanceof NotJson) return { findings: [notJson(text, fileName, scan)] };
  const placeAt = linesOf(text);
  const exactly = (path: string) => {
    const { offset, end } = positionOf(scan, segmentsOf(path));
    return keepingDigits(text.slice(offset, end));
  };
  const repeated = scan.repeated.map(({ name, offset }) => {
    const message = `the field "${name}" is there twice in one object - keep one of the two`;
    return finding("NOVA107", "$", message, { file: fileName, ...placeAt(offset) });
  });
  const { read, findings } = readBody(JSON.parse(text));
  const half = halfCharacterIn(text);
  if (half !== undefined) findings.push(finding("NOVA104", half, halfCharacter));
  return {
    ...(read && { document: { ...read, scan, text, exactly } }),
    findings: locate([...repeated, ...findings], { scan, text, program, file: fileName }),
  };
}

function readBody(value: unknown): { read?: Body; findings: Finding[] } {
  if (!isObject(value)) return { findings: [finding("NOVA103", "$", `the workflow is not a JSON object - ${shape}`)] };
  const { graph_definition: inner, ...outer } = value;
  if (inner === undefined) return { read: { body: value, pathOf: (field) => at("$", field) }, findings: [] };
  if (!isObject(inner)) {
    const message = `graph_definition is not an object with nodes and edges - ${shape}`;
    return { findings: [finding("NOVA103", inside, message)] };
  }
  const pathOf = (field: string) => at(Object.hasOwn(inner, field) ? inside : "$", field);
  return { read: { body: { ...outer, ...inner }, pathOf }, findings: findDuplicates(outer, inner) };
}

function findDuplicates(outer: Loose, inner: Loose): Finding[] {
  const fields = Object.keys(inner).filter((field) => Object.hasOwn(outer, field));
  return fields.map((field) => {
    const message = `the field "${field}" is there twice, at the top and in graph_definition - keep one of the two`;
    return finding("NOVA107", at(inside, field), message);
  });
}

function scanned(text: string): Scan | NotJson {
  try {
    return scanJson(text);
  } catch (error) {
    if (error instanceof NotJson) return error;
    throw error;
  }
}

function notJson(text: string, file: string, error: NotJson): Finding {
  const place = linesOf(text)(error.offset);
  const found = error.offset < text.length ? `found ${JSON.stringify(text[error.offset])}` : "the file ends";
  const where = `line ${place.line}, column ${place.column}`;
  return finding("NOVA102", "$", `${file} is not JSON: ${where}: ${error.message}, but ${found}`, { file, ...place });
}

interface Located {
  scan: Scan;
  text: string;
  /** The source of the program that made the text. Absent if a person wrote the JSON. */
  program?: string | undefined;
  file: string;
}

/** Adds a line to each finding without a line: a line of the JSON, or of the program that made the JSON. */
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

/** The file name in findings of a server, which gets only the JSON and not the program that made it. */
const sentName = "workflow.json";

/** Replaces the lines in a server's findings, which refer to the JSON, by lines of the program that made it. */
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
 * Finds the offset in a program that belongs to a path in its JSON: of a node by its id, of an edge by its ends, or of
 * a field that occurs once. Returns undefined if the path is ambiguous.
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
