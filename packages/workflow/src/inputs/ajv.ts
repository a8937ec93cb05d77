import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from "ajv/dist/2020.js";
import { LRUCache } from "lru-cache";
import { RE2JS } from "re2js";
import { parseWithDigits } from "../json/digits.ts";
import { parseExact, type WrittenJson } from "../json/exact.ts";
import { computeWithDigits } from "./exact-keywords.ts";

/** The pattern for e-mail addresses of RFC 5322 has about 400. */
const maxPatternCharacters = 1_000;

/** A schema's pattern is refused. The message has the reason and the way out. */
export class PatternRefused extends Error {
  override name = "PatternRefused";
}

interface Pattern {
  test(text: string): boolean;
  /** Identifies equal patterns for ajv. */
  toString(): string;
}

/** RE2 reads `\k` as the letter k. */
const namedBackreference = /(?<!\\)(?:\\\\)*\\k</;

/**
 * Compiles an ECMAScript pattern with RE2, which runs in linear time. Throws `PatternRefused` for features that RE2
 * lacks: backreferences and lookaround.
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

/**
 * Creates an ajv instance. Formats are not checked: libraries differ in them, and a run should not fail for a library.
 * The code that ajv writes is not optimised, because that takes time quadratic in the schema.
 */
export function newAjv(options: Options): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    validateFormats: false,
    code: { optimize: false, regExp: Object.assign(linearPattern, { code: "patterns" }) },
    ...options,
  });
  computeWithDigits(ajv);
  return ajv;
}

/** Returns a schema with the digits of its numbers. `$schema` is left out: only one dialect is supported. */
export function readSchema(written: WrittenJson | Record<string, unknown>): Record<string, unknown> {
  const { $schema: _, ...schema } = (typeof written === "string" ? parseExact(written) : written) as typeof written &
    object;
  return schema;
}

/** Returns the schema in `inputs`, which always describes an object. */
export function readInputs(written: WrittenJson | Record<string, unknown>): Record<string, unknown> {
  return { type: "object", ...readSchema(written) };
}

/** A path in a JSON value, from its root. */
export type Segments = (string | number)[];

/** Splits a JSON pointer, such as ajv's `instancePath`. */
export function segmentsOfPointer(pointer: string): Segments {
  const steps = pointer.split("/").slice(1);
  return steps
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

/** Frequent workflows reuse their compiled schemas: compiling takes longer than most checks. */
const maxKept = 50;

const kept = new LRUCache<string, ValidateFunction>({ max: maxKept });

/** Finds the problems of a value with a schema that was checked when its workflow was parsed. */
export function problemsIn(schema: Record<string, unknown>, root: { "": unknown }): readonly ErrorObject[] {
  const validate = compiledSchema(JSON.stringify(schema));
  const place = { instancePath: "", parentData: root, parentDataProperty: "", rootData: root[""] as object };
  return validate(root[""], { ...place, dynamicAnchors: {} }) ? [] : (validate.errors ?? []);
}

/** Compiles the text of a schema, or returns the remembered result. */
export function compiledSchema(text: string): ValidateFunction {
  // Compiling the meta-schema again would take most of the time.
  const options = { validateSchema: false, meta: false, strictSchema: false };
  const validate = kept.get(text) ?? newAjv(options).compile(parseWithDigits(text)[""] as object);
  kept.set(text, validate);
  return validate;
}
