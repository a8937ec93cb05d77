import type { ErrorObject } from "ajv/dist/2020.js";
import { at, type Finding, finding } from "../findings/finding.ts";
import { parseWithDigits } from "../json/digits.ts";
import { isObject, type WrittenJson } from "../json/exact.ts";
import { linesOf, NotJson, scanJson } from "../json/scan.ts";
import { isJson } from "../json/text.ts";
import { linearPattern, problemsIn, readInputs, readSchema, segmentsOfPointer } from "./ajv.ts";

/** Maximum number of reported problems: a list of a million wrong items is one mistake. */
const maxProblems = 20;

/**
 * Checks whether a run may start with this context. The values under `fileKeys` are files, so only the presence of
 * these keys is checked.
 */
export function validateInputs(inputs: WrittenJson, contextText: string, fileKeys: readonly string[]): Finding[] {
  const root = parseWithDigits(contextText);
  Object.assign(root[""] as object, Object.fromEntries(fileKeys.map((key) => [key, null])));
  return problemsIn(withoutConditionsOn(readInputs(inputs), fileKeys), root)
    .slice(0, maxProblems)
    .map(describe);
}

function describe(error: ErrorObject): Finding {
  const path = at("$", ...segmentsOfPointer(error.instancePath));
  const key = path === "$" ? "the context" : `the context's ${path.slice(2)}`;
  if (error.keyword === "required") {
    const missing = error.params.missingProperty;
    const message = `${key} has no "${missing}", which the workflow's inputs require - add it`;
    return finding("NOVA505", at(path, missing), message);
  }
  return finding("NOVA505", path, `${key} ${wordsOf(error)}, as the workflow's inputs say - correct it`);
}

/** Checks data (JSON text) against the form of an approval. Returns one short description per problem. */
export function validateData(form: WrittenJson, text: string): string[] {
  if (!isJson(text)) return ["it is not JSON"];
  return problemsIn(readSchema(form), parseWithDigits(text)).slice(0, maxProblems).map(describeData);
}

function describeData(error: ErrorObject): string {
  const { instancePath, keyword, params } = error;
  const place = instancePath === "" ? "the data" : `data${instancePath.replaceAll("/", ".")}`;
  if (keyword === "required") return `${place} has no "${params.missingProperty}"`;
  return `${place} ${wordsOf(error)}`;
}

function wordsOf({ keyword, params, message }: ErrorObject): string {
  const extra = keyword === "additionalProperties" ? `: "${params.additionalProperty}"` : "";
  const allowed = keyword === "enum" ? `: ${JSON.stringify(params.allowedValues)}` : "";
  return `${message}${extra}${allowed}`;
}

export function contextProblem(contextText: string): Finding | undefined {
  try {
    if (isObject(JSON.parse(contextText))) return undefined;
    return finding("NOVA506", "$", 'the context is not a JSON object - write { "key": value }');
  } catch {
    return notJson(contextText);
  }
}

function notJson(text: string): Finding {
  try {
    scanJson(text);
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    const { line, column } = linesOf(text)(error.offset);
    const message = `the context is not JSON: line ${line}, column ${column}: ${error.message} - write { "key": value }`;
    return finding("NOVA506", "$", message, { line, column });
  }
  return finding("NOVA506", "$", 'the context is not JSON - write { "key": value }');
}

type Schema = Record<string, unknown>;

/**
 * Keywords whose schemas apply to the same value as the schema around them. `not` and `if` are missing here: in their
 * schemas, a file counts as a value of no JSON type.
 */
const lists = new Set(["allOf", "anyOf", "oneOf"]);
const single = new Set(["then", "else"]);

/** Returns a schema of a context without its conditions on the values of these keys. */
export function withoutConditionsOn(schema: Schema, keys: readonly string[]): Schema {
  if (keys.length === 0) return schema;
  const within = (value: unknown): unknown => (isObject(value) ? withoutConditionsOn(value, keys) : value);
  const applied = Object.entries(schema).map(([name, value]) => {
    if (lists.has(name) && Array.isArray(value)) return [name, value.map(within)];
    if (single.has(name)) return [name, within(value)];
    if (name === "dependentSchemas" && isObject(value))
      return [name, Object.fromEntries(Object.entries(value).map(([key, one]) => [key, within(one)]))];
    if (name === "patternProperties" && isObject(value)) return [name, withoutPatternsOf(value, keys)];
    return [name, value];
  });
  const properties = isObject(schema.properties) ? schema.properties : {};
  // The schema `false` forbids the key with any value, so it stays in force for a file.
  const freed = keys.filter((key) => properties[key] !== false).map((key) => [key, true]);
  return { ...Object.fromEntries(applied), properties: { ...properties, ...Object.fromEntries(freed) } };
}

function withoutPatternsOf(patterns: Schema, keys: readonly string[]): Schema {
  const kept = Object.entries(patterns).filter(([one]) => !keys.some((key) => linearPattern(one).test(key)));
  return Object.fromEntries(kept);
}
