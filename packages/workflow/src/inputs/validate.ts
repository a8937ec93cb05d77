import type { ErrorObject } from "ajv/dist/2020.js";
import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import { lineAndColumn, NotJson, scanJson } from "../json/scan.ts";
import { isObject } from "../parse/loose.ts";
import type { Workflow } from "../workflow.ts";
import { newAjv, schemaOf, segmentsOfPointer } from "./ajv.ts";

/**
 * `inputs` were checked when the workflow was parsed; compiling JSON schema's own schema again would take most of the
 * time.
 */
const checkedBefore = { validateSchema: false, meta: false, strictSchema: false };

/** A list of a million wrong items is one mistake. */
const mostFindings = 20;

/**
 * Whether a run may start with this context. The text is parsed only to look at it: JSON.parse damages large integers,
 * so what a run stores is the text itself.
 */
export function validateInputs(workflow: Pick<Workflow, "inputs">, contextText: string): Finding[] {
  let context: unknown;
  try {
    context = JSON.parse(contextText);
  } catch {
    return [notJson(contextText)];
  }
  if (!isObject(context)) return [finding("NOVA506", "$", 'the context is not a JSON object - write { "key": value }')];
  if (workflow.inputs === undefined) return [];
  const validate = newAjv(checkedBefore).compile(schemaOf(workflow.inputs));
  return validate(context) ? [] : (validate.errors ?? []).slice(0, mostFindings).map(describe);
}

function notJson(text: string): Finding {
  try {
    scanJson(text);
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    const { line, column } = lineAndColumn(text, error.offset);
    const message = `the context is not JSON: line ${line}, column ${column}: ${error.message} - write { "key": value }`;
    return finding("NOVA506", "$", message, { line, column });
  }
  return finding("NOVA506", "$", 'the context is not JSON - write { "key": value }');
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
