import type { Ajv2020, ErrorObject } from "ajv/dist/2020.js";
import { nearest } from "../findings/suggest.ts";
import { newAjv, type Segments, schemaOf, segmentsOfPointer } from "./ajv.ts";
import { endlessReference } from "./endless-reference.ts";
import { PatternRefused } from "./pattern.ts";

export interface CheckedSchema {
  problems: { segments: Segments; message: string }[];
  /** Where it says `secret: true`. */
  secrets: Segments[];
}

/** Of `inputs` or a form, as JSON. Schemas that people write by hand have some 10,000. */
const maxSchemaCharacters = 100_000;
/** A field of a field of a field makes six. */
const maxSchemaLevels = 60;

/** Compiled once: it takes most of the time, and keeps nothing of a schema that it looks at. */
let metaSchema: Ajv2020 | undefined;

/** Whether `inputs` (or a form) can be used. Unknown keywords are no matter of taste: `requried` would allow everything. */
export function checkSchema(inputs: Record<string, unknown>): CheckedSchema {
  const beyond = beyondBounds(inputs);
  if (beyond !== undefined) return { problems: [{ segments: [], message: beyond }], secrets: [] };
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
    return { problems: [{ segments: [], message: refusalOf(error) }], secrets };
  }
}

function beyondBounds(schema: Record<string, unknown>): string | undefined {
  const { length } = JSON.stringify(schema);
  if (length > maxSchemaCharacters) {
    const size = `the schema has ${length.toLocaleString("en")} characters`;
    return `${size}, at most ${maxSchemaCharacters.toLocaleString("en")} are taken - describe fewer fields, and let the code look at the rest`;
  }
  if (levelsOf(schema) <= maxSchemaLevels) return undefined;
  return `the schema goes more than ${maxSchemaLevels} levels deep - move inner schemas to $defs, and refer to them`;
}

function levelsOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Object.values(value).reduce((most, part) => Math.max(most, levelsOf(part)), 0);
}

function refusalOf(error: unknown): string {
  if (error instanceof PatternRefused) return error.message;
  // Ajv and the search for endless references call themselves along each $ref.
  if (error instanceof RangeError) return "its references lead on too many times - make it flatter";
  return `this is no usable JSON schema - ${error instanceof Error ? error.message : String(error)}`;
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
