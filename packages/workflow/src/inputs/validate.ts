import type { ErrorObject } from "ajv/dist/2020.js";
import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import type { JsonObject } from "../workflow.ts";
import { schemaOf, segmentsOfPointer } from "./ajv.ts";
import { compiledSchema } from "./compiled.ts";
import { freeing } from "./freeing.ts";

/** A list of a million wrong items is one mistake. */
const mostFindings = 20;

/**
 * Whether a run may start with this context, the text of a JSON object. It is parsed only to look at it: JSON.parse
 * damages large integers, so what a run stores is the text itself. Files lie under `fileKeys`, of which the schema says
 * nothing but that they are there.
 */
export function validateInputs(inputs: JsonObject, contextText: string, fileKeys: readonly string[]): Finding[] {
  const files = Object.fromEntries(fileKeys.map((key) => [key, null]));
  const context = { ...JSON.parse(contextText), ...files };
  const validate = compiledSchema(freeing(schemaOf(inputs), fileKeys));
  return validate(context) ? [] : (validate.errors ?? []).slice(0, mostFindings).map(describe);
}

function describe(error: ErrorObject): Finding {
  const path = at("$", ...segmentsOfPointer(error.instancePath));
  const key = path === "$" ? "the context" : `the context's ${path.slice(2)}`;
  if (error.keyword === "required") {
    const missing = error.params.missingProperty;
    return finding(
      "NOVA505",
      at(path, missing),
      `${key} has no "${missing}", which the workflow's inputs require - add it`,
    );
  }
  const extra = error.keyword === "additionalProperties" ? `: "${error.params.additionalProperty}"` : "";
  const allowed = error.keyword === "enum" ? `: ${JSON.stringify(error.params.allowedValues)}` : "";
  return finding(
    "NOVA505",
    path,
    `${key} ${error.message}${extra}${allowed}, as the workflow's inputs say - correct it`,
  );
}
