import { createRequire } from "node:module";
import { compileStateMachine } from "../asl/compile.ts";
import { DefinitionRejected } from "../asl/failure.ts";
import { isObject, type Json } from "../asl/json.ts";

export interface Diagnostic {
  severity: "ERROR";
  code: string;
  message: string;
  location?: string;
}

interface Finding {
  "Error code": string;
  Message: string;
  schemaError?: { instancePath: string };
}

type AslValidator = (definition: object) => { isValid: boolean; errors: Finding[] };

let loaded: AslValidator | undefined;

/** The validator compiles its schemas on import (about 0.2 s): only whoever registers a definition pays for that. */
function aslValidator(): AslValidator {
  loaded ??= createRequire(import.meta.url)("asl-validator") as AslValidator;
  return loaded;
}

/** Everything wrong with a definition: first its form, as the cloud checks it, then what cannot be run locally. */
export function checkDefinition(text: string): Diagnostic[] {
  const definition = parse(text);
  if ("code" in definition) return [definition];
  const findings = aslValidator()(JSON.parse(text)).errors.map(diagnose);
  return findings.length > 0 ? findings : checkRunnable(definition.value);
}

function parse(text: string): Diagnostic | { value: Json } {
  try {
    const value: Json = text.trim() === "" ? null : JSON.parse(text);
    if (isObject(value)) return { value };
    return error("SCHEMA_VALIDATION_FAILED", "Definition must be a valid JSON object");
  } catch (cause) {
    return error("INVALID_JSON_DESCRIPTION", (cause as SyntaxError).message);
  }
}

function diagnose(finding: Finding): Diagnostic {
  return error(
    finding["Error code"],
    finding.Message.trim(),
    finding.schemaError && `/${finding.schemaError.instancePath.slice(1)}`,
  );
}

function checkRunnable(definition: Json): Diagnostic[] {
  try {
    compileStateMachine(definition);
    return [];
  } catch (cause) {
    if (!(cause instanceof DefinitionRejected)) throw cause;
    return [error("SCHEMA_VALIDATION_FAILED", cause.message, cause.at)];
  }
}

function error(code: string, message: string, location?: string): Diagnostic {
  return { severity: "ERROR", code, message, ...(location === undefined ? {} : { location }) };
}
