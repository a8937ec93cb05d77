import { isObject } from "@nova/workflow";
import type { z } from "zod";

/**
 * Returns a schema that validates like the given one, and whose JSON Schema has one `type` in each place and no schema
 * without a keyword. Some clients translate tools to dialects that know only such schemas.
 */
export function portable<Schema extends z.ZodObject>(schema: Schema): Schema {
  const standard = schema["~standard"];
  const { jsonSchema } = standard;
  const input: typeof jsonSchema.input = (options) => simplify(jsonSchema.input(options)) as Record<string, unknown>;
  const output: typeof jsonSchema.output = (options) => simplify(jsonSchema.output(options)) as Record<string, unknown>;
  return Object.create(schema, { "~standard": { value: { ...standard, jsonSchema: { input, output } } } }) as Schema;
}

function simplify(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(simplify);
  if (!isObject(schema)) return schema;
  const fields = Object.entries(schema).map(([name, value]) => {
    const isEmpty = name === "additionalProperties" && isObject(value) && Object.keys(value).length === 0;
    return [name, isEmpty ? true : simplify(value)] as const;
  });
  const { type, ...others } = Object.fromEntries(fields);
  if (!Array.isArray(type)) return Object.fromEntries(fields);
  return { ...others, anyOf: type.map((one) => ({ type: one })) };
}
