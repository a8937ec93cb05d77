import type { ValidateFunction } from "ajv/dist/2020.js";
import { LRUCache } from "lru-cache";
import { newAjv } from "./ajv.ts";
import { publishedPattern } from "./pattern.ts";

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
