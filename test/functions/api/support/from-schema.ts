import fc from "fast-check";

/** The part of JSON schema that the OpenAPI document uses. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
}

export type Refs = Record<string, Schema>;

/** Returns random values that the JSON schema allows. */
export function valuesOf(schema: Schema, refs: Refs, depth = 0): fc.Arbitrary<unknown> {
  if (schema.$ref) return valuesOf(refs[schema.$ref.split("/").at(-1) ?? ""] ?? {}, refs, depth);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if ("const" in schema) return fc.constant(schema.const);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => valuesOf(choice, refs, depth)));
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return fc.jsonValue({ maxDepth: 2 });
  return fc.oneof(...types.map((type) => ofType(type, schema, refs, depth)));
}

function ofType(type: string, schema: Schema, refs: Refs, depth: number): fc.Arbitrary<unknown> {
  const { minimum: min = -1e6, maximum: max = 1e6 } = schema;
  switch (type) {
    case "object":
      return depth > 4 ? fc.constant({}) : objects(schema, refs, depth);
    case "array":
      return fc.array(valuesOf(schema.items ?? {}, refs, depth + 1), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(4, schema.maxItems ?? 4),
      });
    case "string":
      return texts(schema);
    case "integer":
      return fc.integer({ min: Math.ceil(min), max: Math.floor(max) });
    case "number":
      return fc.double({ min, max, noNaN: true });
    case "boolean":
      return fc.boolean();
    default:
      return fc.constant(null);
  }
}

function objects({ properties = {}, required = [], additionalProperties }: Schema, refs: Refs, depth: number) {
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, valuesOf(schema, refs, depth + 1)]),
  );
  const known = fc.record(members, { requiredKeys: required as never[] });
  if (additionalProperties === false || additionalProperties === undefined) return known;
  const value =
    additionalProperties === true ? fc.jsonValue({ maxDepth: 2 }) : valuesOf(additionalProperties, refs, depth + 1);
  const more = fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9-]{0,9}$/), value, { maxKeys: 3 });
  return fc.tuple(more, known).map(([others, own]) => ({ ...others, ...own }));
}

function texts({ pattern, format, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (format === "date-time") return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (format === "date") return fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10));
  // fc.webUrl knows every top level domain and takes a second to create.
  if (format === "uri") return fc.stringMatching(/^[a-z]{1,9}(\/[a-z0-9]{0,4})?$/).map((text) => `https://x.${text}`);
  if (format === "email") return fc.emailAddress();
  if (pattern && /^[ -~]*$/.test(pattern) && !pattern.includes("(?")) return fc.stringMatching(new RegExp(pattern));
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) });
}
