import { isObject } from "../json/value.ts";
import { linearPattern } from "./ajv.ts";

type Schema = Record<string, unknown>;

/** Keywords with schemas for the same value. `not` and `if` are left out: a file matches no JSON type there. */
const lists = new Set(["allOf", "anyOf", "oneOf"]);
const single = new Set(["then", "else"]);

/**
 * Removes the conditions on the values of these keys, at every part of the schema that applies to the context itself.
 */
export function freeing(schema: Schema, keys: readonly string[]): Schema {
  if (keys.length === 0) return schema;
  const within = (value: unknown): unknown => (isObject(value) ? freeing(value, keys) : value);
  const applied = Object.entries(schema).map(([name, value]) => {
    if (lists.has(name) && Array.isArray(value)) return [name, value.map(within)];
    if (single.has(name)) return [name, within(value)];
    if (name === "dependentSchemas" && isObject(value))
      return [name, Object.fromEntries(Object.entries(value).map(([key, one]) => [key, within(one)]))];
    if (name === "patternProperties" && isObject(value)) return [name, withoutPatternsOf(value, keys)];
    return [name, value];
  });
  const properties = isObject(schema.properties) ? schema.properties : {};
  // `false` forbids the key.
  const freed = keys.filter((key) => properties[key] !== false).map((key) => [key, true]);
  return { ...Object.fromEntries(applied), properties: { ...properties, ...Object.fromEntries(freed) } };
}

function withoutPatternsOf(patterns: Schema, keys: readonly string[]): Schema {
  const kept = Object.entries(patterns).filter(([one]) => !keys.some((key) => linearPattern(one).test(key)));
  return Object.fromEntries(kept);
}
