import { Ajv2020, type Options } from "ajv/dist/2020.js";

/** Formats are left alone: libraries differ in them, and a run should not stop for a library. */
export function newAjv(options: Options): Ajv2020 {
  return new Ajv2020({
    allErrors: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    validateFormats: false,
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
