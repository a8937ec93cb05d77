import type { ErrorObject } from "ajv/dist/2020.js";
import type { JsonObject } from "../workflow.ts";
import { compiledSchema } from "./compiled.ts";

const mostProblems = 20;

/** What keeps data (JSON text) from fitting the form of an approval, a few words each; nothing where it fits. */
export function validateData({ $schema: _, ...form }: JsonObject, text: string): string[] {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return ["it is not JSON"];
  }
  const validate = compiledSchema(form);
  return validate(data) ? [] : (validate.errors ?? []).slice(0, mostProblems).map(describe);
}

function describe({ instancePath, keyword, params, message }: ErrorObject): string {
  const place = instancePath === "" ? "the data" : `data${instancePath.replaceAll("/", ".")}`;
  if (keyword === "required") return `${place} has no "${params.missingProperty}"`;
  const extra = keyword === "additionalProperties" ? `: "${params.additionalProperty}"` : "";
  const allowed = keyword === "enum" ? `: ${JSON.stringify(params.allowedValues)}` : "";
  return `${place} ${message}${extra}${allowed}`;
}
