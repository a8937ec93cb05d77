import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from "ajv/dist/2020.js";
import { LRUCache } from "lru-cache";
import { RE2JS } from "re2js";
import { parseWithDigits } from "../json/digits.ts";
import { parseExact, type WrittenJson } from "../json/exact.ts";
import { computeWithDigits } from "./exact-keywords.ts";

/** The pattern of an e-mail address that follows RFC 5322 to the letter has about 400. */
const maxPatternCharacters = 1_000;

/** A pattern of a schema that is not used, with the reason and the way out. */
export class PatternRefused extends Error {
  override name = "PatternRefused";
}

interface Pattern {
  test(text: string): boolean;
  /** ajv knows equal patterns by it. */
  toString(): string;
}

/** RE2 reads it as the letter k. */
const namedBackreference = /(?<!\\)(?:\\\\)*\\k</;

/**
 * A pattern of ECMAScript as RE2 runs it: in time linear in the text, whatever the pattern. Throws `PatternRefused` for
 * the few that RE2 has no form of: backreferences and lookaround.
 */
export function linearPattern(pattern: string): Pattern {
  const name = JSON.stringify(pattern.slice(0, 60));
  if (pattern.length > maxPatternCharacters) {
    const size = `the pattern ${name}... has ${pattern.length} characters`;
    throw new PatternRefused(`${size}, at most ${maxPatternCharacters} are taken - divide it with allOf`);
  }
  try {
    new RegExp(pattern, "u");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^.*: /s, "") : String(cause);
    throw new PatternRefused(`the pattern ${name} is no regular expression: ${reason} - correct it`, { cause });
  }
  return re2Of(pattern, name);
}

function re2Of(pattern: string, name: string): Pattern {
  const wayOut = "write it without backreferences, lookahead and lookbehind, and with at most 1,000 repetitions";
  const refusal = `RE2, which runs patterns in linear time, cannot run the pattern ${name} - ${wayOut}`;
  if (namedBackreference.test(pattern)) throw new PatternRefused(refusal);
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return { test: (text) => compiled.test(text), toString: () => pattern };
  } catch (cause) {
    throw new PatternRefused(refusal, { cause });
  }
}

/** The same; a pattern that an earlier release published, and RE2 cannot run, stays what it was. */
export function publishedPattern(pattern: string): Pattern {
  try {
    return linearPattern(pattern);
  } catch (error) {
    if (!(error instanceof PatternRefused)) throw error;
    return new RegExp(pattern, "u");
  }
}

/**
 * Formats are left alone: libraries differ in them, and a run should not stop for a library. So is the code that ajv
 * writes for a schema: shortening it takes time quadratic in the schema.
 */
export function newAjv(options: Options, patterns = linearPattern): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    validateFormats: false,
    code: { optimize: false, regExp: Object.assign(patterns, { code: "patterns" }) },
    ...options,
  });
  computeWithDigits(ajv);
  return ajv;
}

/** A schema as it was written, with the digits of its numbers; `$schema` names the one dialect there is. */
export function readSchema(written: WrittenJson | Record<string, unknown>): Record<string, unknown> {
  const { $schema: _, ...schema } = (typeof written === "string" ? parseExact(written) : written) as typeof written &
    object;
  return schema;
}

/** The schema in `inputs`: it is of an object. */
export function readInputs(written: WrittenJson | Record<string, unknown>): Record<string, unknown> {
  return { type: "object", ...readSchema(written) };
}

/** A place in a JSON value, from its root. */
export type Segments = (string | number)[];

/** Segments of a JSON pointer, as ajv's `instancePath` has it. */
export function segmentsOfPointer(pointer: string): Segments {
  const steps = pointer.split("/").slice(1);
  return steps
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

/** Of a workflow that runs often; compiling takes longer than most checks. */
const maxKept = 50;

const kept = new LRUCache<string, ValidateFunction>({ max: maxKept });

/**
 * What is wrong with a value (JSON text) by a schema that was checked when its workflow was parsed. The last compiled
 * schemas are remembered.
 */
export function problemsIn(schema: Record<string, unknown>, root: { "": unknown }): readonly ErrorObject[] {
  const validate = compiledSchema(JSON.stringify(schema));
  const place = { instancePath: "", parentData: root, parentDataProperty: "", rootData: root[""] as object };
  return validate(root[""], { ...place, dynamicAnchors: {} }) ? [] : (validate.errors ?? []);
}

/** Of the text of a schema. */
export function compiledSchema(text: string): ValidateFunction {
  // Compiling JSON schema's own schema again would take most of the time.
  const options = { validateSchema: false, meta: false, strictSchema: false };
  const validate = kept.get(text) ?? newAjv(options, publishedPattern).compile(parseWithDigits(text)[""] as object);
  kept.set(text, validate);
  return validate;
}
