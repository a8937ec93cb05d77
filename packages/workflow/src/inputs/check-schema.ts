import type { Ajv2020, ErrorObject } from "ajv/dist/2020.js";
import { nearest } from "../findings/suggest.ts";
import { newAjv, type Segments, schemaOf, segmentsOfPointer } from "./ajv.ts";
import { endlessReference } from "./endless-reference.ts";

export interface CheckedSchema {
  problems: { segments: Segments; message: string }[];
  /** Where it says `secret: true`. */
  secrets: Segments[];
}

/** Compiled once: it takes most of the time, and keeps nothing of a schema that it looks at. */
let metaSchema: Ajv2020 | undefined;

/** Whether `inputs` (or a form) can be used. Unknown keywords are no matter of taste: `requried` would allow everything. */
export function checkSchema(inputs: Record<string, unknown>): CheckedSchema {
  const unknown: string[] = [];
  const secrets: Segments[] = [];
  const note = (message: unknown) => {
    const keyword = /unknown keyword: "(.*)"/.exec(String(message))?.[1];
    if (keyword !== undefined) unknown.push(keyword);
  };
  const logger = { log: note, warn: note, error: note };
  const ajv = newAjv({ strictSchema: "log", logger, meta: false, validateSchema: false });
  noteSecrets(ajv, (segments) => secrets.push([...segments, "secret"]));
  const schema = schemaOf(inputs);
  try {
    metaSchema ??= newAjv({ strictSchema: false });
    if (!metaSchema.validateSchema(schema)) return { problems: metaProblems(metaSchema.errors ?? []), secrets };
    const endless = endlessReference(schema);
    if (endless) {
      const message =
        "this $ref leads back to itself before it comes to a part of the value - refer to it from properties or items";
      return { problems: [{ segments: endless, message }], secrets };
    }
    ajv.compile(schema);
    return { problems: unknown.map((keyword) => unknownKeyword(keyword, ajv)), secrets };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problems: [{ segments: [], message: `this is no usable JSON schema - ${reason}` }], secrets };
  }
}

/** Calls back for every schema that says `secret: true`, with its place. */
function noteSecrets(ajv: Ajv2020, onSecret: (segments: Segments) => void): void {
  ajv.addKeyword({
    keyword: "secret",
    schemaType: "boolean",
    compile(isSecret, _parent, { errSchemaPath }) {
      if (isSecret) onSecret(segmentsOfPointer(decodeURIComponent(errSchemaPath)));
      return () => true;
    },
  });
}

function unknownKeyword(keyword: string, ajv: Ajv2020): CheckedSchema["problems"][number] {
  const meant = nearest(keyword, Object.keys(ajv.RULES.all));
  const wayOut = meant === undefined ? "fields stand under properties" : `did you mean "${meant}"?`;
  return { segments: [], message: `"${keyword}" is no keyword of a JSON schema - ${wayOut}` };
}

/** The meta-schema answers one mistake with up to eight errors: the first one of a place says it. */
function metaProblems(errors: readonly ErrorObject[]): CheckedSchema["problems"] {
  const first = new Map(errors.toReversed().map((error) => [error.instancePath, error]));
  return [...first.values()].reverse().map((error) => {
    const allowed = error.keyword === "enum" ? `: ${error.params.allowedValues.join(", ")}` : "";
    const where = error.instancePath === "" ? "the schema" : error.instancePath.slice(1).replaceAll("/", ".");
    return { segments: segmentsOfPointer(error.instancePath), message: `${where} ${error.message}${allowed}` };
  });
}
