import type { ErrorObject, FuncKeywordDefinition, Options, ValidateFunction } from "ajv/dist/2020.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { LRUCache } from "lru-cache";
import { RE2JS } from "re2js";
import {
  canonicalAt,
  compareDecimals,
  type Decimal,
  decimalOf,
  digitsOf,
  isMultipleOf,
  parseWithDigits,
  textAt,
} from "../json/digits.ts";
import { parseExact, type WrittenJson } from "../json/exact.ts";

/** The maximum length of a pattern, in characters. The pattern of RFC 5322 for e-mail addresses has about 400. */
const maxPatternCharacters = 1_000;

export class PatternRefused extends Error {
  override name = "PatternRefused";
}

interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

/** Matches `\k<`. `linearPattern` must refuse it, because RE2 accepts it and reads `\k` as the letter k. */
const namedBackreference = /(?<!\\)(?:\\\\)*\\k</;

/**
 * Compiles an ECMAScript pattern for RE2, which matches in linear time. Throws `PatternRefused` for a pattern that RE2
 * cannot run, such as one with lookahead.
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
 * Creates a validator. It does not check formats, because libraries differ about them. Its code is not optimised,
 * because that takes time quadratic in the size of the schema.
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

/** Returns a schema whose numbers keep their digits. `$schema` is left out, because only one dialect is supported. */
export function readSchema(written: WrittenJson | Record<string, unknown>): Record<string, unknown> {
  const { $schema: _, ...schema } = (typeof written === "string" ? parseExact(written) : written) as typeof written &
    object;
  return schema;
}

/** Returns the schema in `inputs`, with `"type": "object"` added. */
export function readInputs(written: WrittenJson | Record<string, unknown>): Record<string, unknown> {
  return { type: "object", ...readSchema(written) };
}

export type Segments = (string | number)[];

/** Splits a JSON pointer, such as ajv's `instancePath`. */
export function segmentsOfPointer(pointer: string): Segments {
  const steps = pointer.split("/").slice(1);
  return steps
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

/** Number of compiled schemas that are kept for the next check, because compiling takes longer than most checks. */
const maxKept = 50;

const kept = new LRUCache<string, ValidateFunction>({ max: maxKept });

/**
 * Checks a value against a schema and returns the problems. The schema itself was checked when its workflow was parsed.
 */
export function problemsIn(schema: Record<string, unknown>, root: { "": unknown }): readonly ErrorObject[] {
  const validate = compiledSchema(JSON.stringify(schema));
  const place = { instancePath: "", parentData: root, parentDataProperty: "", rootData: root[""] as object };
  return validate(root[""], { ...place, dynamicAnchors: {} }) ? [] : (validate.errors ?? []);
}

export function compiledSchema(text: string): ValidateFunction {
  // The schema is already checked, so the meta-schema, whose compilation takes most of the time, is not needed.
  const options = { validateSchema: false, meta: false, strictSchema: false };
  const validate = kept.get(text) ?? newAjv(options).compile(parseWithDigits(text)[""] as object);
  kept.set(text, validate);
  return validate;
}

/**
 * Replaces the keywords that compare or divide numbers by keywords that use exact digits. As doubles, 19.99 is no
 * multiple of 0.01, and 2^53 + 1 equals 2^53.
 */
export function computeWithDigits(ajv: Ajv2020): void {
  for (const definition of definitions) {
    ajv.removeKeyword(definition.keyword as string);
    ajv.addKeyword(definition);
  }
}

interface ValueHolder {
  parentData: object;
  parentDataProperty: string | number;
}

interface Problem {
  message: string;
  params: Record<string, unknown>;
}

type Check = (place: ValueHolder, value: unknown) => Problem | undefined;

/**
 * Defines a keyword. `checkOf` builds its check, once per schema, from the object in the schema that contains the
 * keyword.
 */
function keyword(
  name: string,
  checkOf: (schema: object) => Check,
  applies: Pick<FuncKeywordDefinition, "type" | "schemaType"> = {},
): FuncKeywordDefinition {
  return {
    ...applies,
    keyword: name,
    compile(_, schema) {
      const check = checkOf(schema);
      const validate: ReturnType<NonNullable<FuncKeywordDefinition["compile"]>> = (value, place) => {
        const problem = check(place as ValueHolder, value);
        validate.errors = problem ? [{ keyword: name, ...problem }] : [];
        return problem === undefined;
      };
      return validate;
    },
  };
}

function number(name: string, words: string, fits: (value: Decimal, given: Decimal) => boolean): FuncKeywordDefinition {
  const checkOf = (schema: object): Check => {
    const digits = digitsOf(schema, name);
    const given = decimalOf(digits);
    const problem = { message: `must be ${words} ${digits}`, params: { limit: digits } };
    return ({ parentData, parentDataProperty }) =>
      fits(decimalOf(digitsOf(parentData, parentDataProperty)), given) ? undefined : problem;
  };
  return keyword(name, checkOf, { type: "number", schemaType: "number" });
}

const definitions: FuncKeywordDefinition[] = [
  number("minimum", ">=", (value, limit) => compareDecimals(value, limit) >= 0),
  number("maximum", "<=", (value, limit) => compareDecimals(value, limit) <= 0),
  number("exclusiveMinimum", ">", (value, limit) => compareDecimals(value, limit) > 0),
  number("exclusiveMaximum", "<", (value, limit) => compareDecimals(value, limit) < 0),
  number("multipleOf", "multiple of", isMultipleOf),
  keyword("const", (schema) => {
    const wanted = canonicalAt(schema, "const");
    const problem = { message: "must be equal to constant", params: {} };
    return (place, value) => (canonicalOf(place, value) === wanted ? undefined : problem);
  }),
  keyword(
    "enum",
    (schema) => {
      const { enum: values } = schema as { enum: unknown[] };
      const texts = new Set(values.map((_, index) => canonicalAt(values, index)));
      const allowedValues = values.map((_, index) => parseExact(textAt(values, index)));
      const problem = { message: "must be equal to one of the allowed values", params: { allowedValues } };
      return (place, value) => (texts.has(canonicalOf(place, value)) ? undefined : problem);
    },
    { schemaType: "array" },
  ),
  keyword(
    "uniqueItems",
    (schema) => {
      if (!(schema as { uniqueItems: boolean }).uniqueItems) return () => undefined;
      return (_, value) => repeatedItem(value as unknown[]);
    },
    { type: "array", schemaType: "boolean" },
  ),
];

/**
 * Returns the canonical text of a value. A number is looked up in the object that contains it. A text is not, because
 * for the name of a property ajv passes the wrong object.
 */
function canonicalOf({ parentData, parentDataProperty }: ValueHolder, value: unknown): string {
  return typeof value === "number" ? canonicalAt(parentData, parentDataProperty) : canonicalAt([value], 0);
}

function repeatedItem(items: unknown[]): Problem | undefined {
  const seen = new Map<string, number>();
  for (const i of items.keys()) {
    const text = canonicalAt(items, i);
    const j = seen.get(text);
    const message = `must NOT have duplicate items (items ## ${j} and ${i} are identical)`;
    if (j !== undefined) return { message, params: { i, j } };
    seen.set(text, i);
  }
  return undefined;
}
