import { Ajv2020, type Options } from "ajv/dist/2020.js";
import { linearPattern } from "./pattern.ts";

type Patterns = (pattern: string) => { test(text: string): boolean };

/**
 * Formats are left alone: libraries differ in them, and a run should not stop for a library. So is the code that ajv
 * writes for a schema: shortening it takes time quadratic in the schema.
 */
export function newAjv(options: Options, patterns: Patterns = linearPattern): Ajv2020 {
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
