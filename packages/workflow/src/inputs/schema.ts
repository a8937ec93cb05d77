import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { nearest } from "../findings/suggest.ts";

/** A place in a JSON value, from its root. */
export type Segments = (string | number)[];

export interface CompiledInputs {
  validate?: ValidateFunction;
  problems: { segments: Segments; message: string }[];
  /** Where `secret` stands without effect. */
  lostSecrets: Segments[];
}

/**
 * The `inputs` of a workflow, ready to check a context. Formats are left alone (they differ from library to library),
 * unknown keywords are not: `requried` would allow everything.
 */
export function compileInputs(inputs: Record<string, unknown>): CompiledInputs {
  const unknown: string[] = [];
  const lostSecrets: Segments[] = [];
  const ajv = newAjv(unknown);
  ajv.addKeyword({
    keyword: "secret",
    schemaType: "boolean",
    compile(isSecret, _parent, { errSchemaPath }) {
      const segments = segmentsOf(errSchemaPath.slice(1));
      if (isSecret && !(segments.length === 2 && segments[0] === "properties"))
        lostSecrets.push([...segments, "secret"]);
      return () => true;
    },
  });
  const { $schema: _, ...schema } = inputs;
  try {
    if (!ajv.validateSchema(schema)) return { problems: metaProblems(ajv.errors ?? []), lostSecrets };
    const validate = ajv.compile({ type: "object", ...schema });
    return { validate, problems: unknown.map((keyword) => unknownKeyword(keyword, ajv)), lostSecrets };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problems: [{ segments: [], message: `is not a usable JSON schema: ${reason}` }], lostSecrets };
  }
}

function newAjv(unknown: string[]): Ajv2020 {
  const note = (message: unknown) => {
    const keyword = /unknown keyword: "(.*)"/.exec(String(message))?.[1];
    if (keyword !== undefined) unknown.push(keyword);
  };
  return new Ajv2020({
    allErrors: true,
    strictSchema: "log",
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    validateFormats: false,
    logger: { log: note, warn: note, error: note },
  });
}

function unknownKeyword(keyword: string, ajv: Ajv2020): CompiledInputs["problems"][number] {
  const known = Object.keys(ajv.RULES.all);
  const meant = nearest(keyword, known);
  const wayOut = meant === undefined ? "keys of the context stand under properties" : `did you mean "${meant}"?`;
  return { segments: [], message: `"${keyword}" is no keyword of a JSON schema - ${wayOut}` };
}

/** The meta-schema answers one mistake with up to eight errors: the first one of a place says it. */
function metaProblems(errors: readonly ErrorObject[]): CompiledInputs["problems"] {
  const first = new Map(errors.toReversed().map((error) => [error.instancePath, error]));
  return [...first.values()].reverse().map((error) => {
    const allowed = error.keyword === "enum" ? `: ${error.params.allowedValues.join(", ")}` : "";
    const where = error.instancePath === "" ? "the schema" : error.instancePath.slice(1).replaceAll("/", ".");
    return { segments: segmentsOf(error.instancePath), message: `${where} ${error.message}${allowed}` };
  });
}

/** Segments of a JSON pointer. */
export function segmentsOf(pointer: string): Segments {
  const steps = pointer.split("/").slice(1);
  return steps.map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")).map(asIndex);
}

function asIndex(step: string): string | number {
  return /^\d+$/.test(step) ? Number(step) : step;
}
