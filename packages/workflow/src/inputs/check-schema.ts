import type { Ajv2020, ErrorObject } from "ajv/dist/2020.js";
import { nearest } from "../findings/finding.ts";
import { parseWithDigits } from "../json/digits.ts";
import { isObject, type Loose, type WrittenJson } from "../json/exact.ts";
import { newAjv, PatternRefused, readInputs, type Segments, segmentsOfPointer } from "./ajv.ts";

interface CheckedSchema {
  problems: { segments: Segments; message: string }[];
  secrets: Segments[];
}

/** The longest schema (`inputs` or a form), in characters of JSON. Hand-written schemas have about 10,000. */
const maxSchemaCharacters = 100_000;
/** Maximum number of nested levels of a schema. A field of a field of a field has six. */
const maxSchemaLevels = 60;

/**
 * The compiled meta-schema. It is compiled only once, because compiling takes most of the time of a check. It stores
 * nothing of the schemas that it checks.
 */
let metaSchema: Ajv2020 | undefined;

/**
 * Checks whether the schema in `inputs` or a form can be used. An unknown keyword is an error, because a misspelt one
 * such as `requried` would have no effect.
 */
export function checkSchema(written: WrittenJson | Record<string, unknown>): CheckedSchema {
  const text = JSON.stringify(readInputs(written));
  const schema = parseWithDigits(text)[""] as Record<string, unknown>;
  const beyond = beyondBounds(schema, text.length);
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
  try {
    metaSchema ??= newAjv({ strictSchema: false });
    if (!metaSchema.validateSchema(schema)) return { problems: metaProblems(metaSchema.errors ?? []), secrets };
    const segments = endlessReference(schema);
    const endless = "this $ref leads back to itself before it reaches a part of the value";
    const message = `${endless} - refer to it from properties or items`;
    if (segments) return { problems: [{ segments, message }], secrets };
    ajv.compile(schema);
    return { problems: unknown.map((keyword) => unknownKeyword(keyword, ajv)), secrets };
  } catch (error) {
    return { problems: [{ segments: [], message: refusalOf(error) }], secrets };
  }
}

function beyondBounds(schema: Record<string, unknown>, length: number): string | undefined {
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
  // The stack has overflowed, because ajv and `endlessReference` recurse along each $ref.
  if (error instanceof RangeError) return "its references lead on too many times - make it flatter";
  return `this is no usable JSON schema - ${error instanceof Error ? error.message : String(error)}`;
}

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

/** Returns only the first error at each path, because the meta-schema reports one mistake with up to eight errors. */
function metaProblems(errors: readonly ErrorObject[]): CheckedSchema["problems"] {
  const first = new Map(errors.toReversed().map((error) => [error.instancePath, error]));
  return [...first.values()].reverse().map((error) => {
    const allowed = error.keyword === "enum" ? `: ${error.params.allowedValues.join(", ")}` : "";
    const where = error.instancePath === "" ? "the schema" : error.instancePath.slice(1).replaceAll("/", ".");
    return { segments: segmentsOfPointer(error.instancePath), message: `${where} ${error.message}${allowed}` };
  });
}

/**
 * Keywords whose schemas apply to the same value as the schema around them. The schemas of other keywords apply to a
 * part of the value, so they cannot repeat for ever.
 */
const sameValue = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

/** Finds a `$ref` that leads back to itself without reaching a part of the value: validation would never end. */
export function endlessReference(root: Record<string, unknown>): Segments | undefined {
  const done = new Set<unknown>();
  const open = new Set<unknown>();

  function follow(schema: unknown, place: Segments): Segments | undefined {
    if (!isObject(schema) || done.has(schema)) return undefined;
    if (open.has(schema)) return place;
    open.add(schema);
    const found = first(sameValueAs(schema, root), ([steps, inner]) => follow(inner, [...place, ...steps]));
    open.delete(schema);
    done.add(schema);
    return found;
  }

  function visit(value: unknown, place: Segments): Segments | undefined {
    if (typeof value !== "object" || value === null) return undefined;
    return follow(value, place) ?? first(Object.entries(value), ([key, part]) => visit(part, [...place, key]));
  }

  return visit(root, []);
}

/** Yields the schemas inside a schema that apply to the same value, each with its path. */
function* sameValueAs(schema: Loose, root: unknown): Iterable<[Segments, unknown]> {
  if (typeof schema.$ref === "string") yield [["$ref"], referredIn(root, schema.$ref)];
  for (const keyword of sameValue) {
    const inner = schema[keyword];
    const isMany = Array.isArray(inner) || (keyword === "dependentSchemas" && isObject(inner));
    if (!isMany) yield [[keyword], inner];
    else
      for (const [step, one] of Object.entries(inner))
        yield [[keyword, Array.isArray(inner) ? Number(step) : step], one];
  }
}

function first<T, Found>(items: Iterable<T>, find: (item: T) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found) return found;
  }
  return undefined;
}

/** Resolves a pointer into the same schema: `#`, `#/$defs/item`. */
function referredIn(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  let found = root;
  for (const segment of segmentsOfPointer(decodeURIComponent(reference.slice(1)))) {
    found = (found as Record<string | number, unknown> | undefined)?.[segment];
  }
  return found;
}
