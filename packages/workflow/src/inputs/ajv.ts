import { Ajv2020, type Options, type ValidateFunction } from "ajv/dist/2020.js";
import { LRUCache } from "lru-cache";
import { RE2JS } from "re2js";

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
  return new Ajv2020({
    allErrors: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    validateFormats: false,
    code: { optimize: false, regExp: Object.assign(patterns, { code: "patterns" }) },
    ...options,
  });
}

/** The schema inside of `inputs`, as ajv takes it: of an object, and in the one dialect that is spoken here. */
export function schemaOf({ $schema: _, ...inputs }: Record<string, unknown>): Record<string, unknown> {
  return { type: "object", ...inputs };
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

/** A schema that was checked when its workflow was parsed, ready to check values; the last ones are remembered. */
export function compiledSchema(schema: Record<string, unknown>): ValidateFunction {
  const key = JSON.stringify(schema);
  // Compiling JSON schema's own schema again would take most of the time.
  const options = { validateSchema: false, meta: false, strictSchema: false };
  const validate = kept.get(key) ?? newAjv(options, publishedPattern).compile(schema);
  kept.set(key, validate);
  return validate;
}
