import { type Finding, finding } from "../findings/finding.ts";
import { at, segmentsOf } from "../findings/text.ts";
import { type Exactly, keepingDigits } from "../json/exact.ts";
import { halfCharacterIn, linesOf, NotJson, positionOf, type Scan, scanJson } from "../json/scan.ts";
import { isObject, type Loose } from "../json/value.ts";
import { locate } from "./locate.ts";
import type { WorkflowSource } from "./read.ts";

/** The JSON of a workflow, with its graph at the top level. */
export interface Document extends Body {
  scan: Scan;
  text: string;
  /** Returns the JSON object at a path, with its digits. */
  exactly: Exactly;
}

interface Body {
  body: Loose;
  /** Path of a top-level field. Definitions with `graph_definition` have some of the fields there. */
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
