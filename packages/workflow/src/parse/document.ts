import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import { lineAndColumn, NotJson, type Scan, scanJson } from "../json/scan.ts";
import type { WorkflowSource } from "./source.ts";

/** The JSON of a workflow, with its graph at the top level. */
export interface Document {
  body: Record<string, unknown>;
  /** Path of a top-level field: the older form has some of them in `graph_definition`. */
  pathOf(field: string): string;
  scan: Scan;
  text: string;
}

export interface ReadDocument {
  document?: Document;
  findings: Finding[];
}

export function readDocument({ text: raw, fileName }: WorkflowSource): ReadDocument {
  const text = raw.replace(/^\uFEFF/, "");
  const scan = scanned(text);
  if (scan instanceof NotJson) return { findings: [notJson(text, fileName, scan)] };
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) return { findings: [notAWorkflow("is not a JSON object")] };
  const findings = scan.repeated.map(({ name, offset }) =>
    finding("NOVA107", "$", `the field "${name}" is there twice in one object - keep one of the two`, {
      file: fileName,
      ...lineAndColumn(text, offset),
    }),
  );
  const { graph_definition: inner, ...outer } = value;
  if (inner === undefined)
    return { document: { body: value, pathOf: (field) => at("$", field), scan, text }, findings };
  if (!isObject(inner)) {
    return { findings: [...findings, notAWorkflow("is not an object with nodes and edges", inside)] };
  }
  const pathOf = (field: string) => at(Object.hasOwn(inner, field) ? inside : "$", field);
  findings.push(...twice(outer, inner));
  return { document: { body: { ...outer, ...inner }, pathOf, scan, text }, findings };
}

const inside = "$.graph_definition";

function scanned(text: string): Scan | NotJson {
  try {
    return scanJson(text);
  } catch (error) {
    if (error instanceof NotJson) return error;
    throw error;
  }
}

function twice(outer: object, inner: object): Finding[] {
  const fields = Object.keys(inner).filter((field) => Object.hasOwn(outer, field));
  return fields.map((field) => {
    const message = `the field "${field}" is there twice, at the top and in graph_definition - keep one of the two`;
    return finding("NOVA107", at(inside, field), message);
  });
}

function notJson(text: string, file: string, error: NotJson): Finding {
  const place = lineAndColumn(text, error.offset);
  const found = error.offset < text.length ? `found ${JSON.stringify(text[error.offset])}` : "the file ends";
  const message = `${file} is not JSON: line ${place.line}, column ${place.column}: ${error.message}, but ${found}`;
  return finding("NOVA102", "$", message, { file, ...place });
}

const shape = 'write { "nodes": [...], "edges": [...] }';

function notAWorkflow(what: string, path = "$"): Finding {
  return finding("NOVA103", path, `${path === "$" ? "the workflow" : "graph_definition"} ${what} - ${shape}`);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
