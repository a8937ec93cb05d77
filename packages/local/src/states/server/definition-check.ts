import { createRequire } from "node:module";
import { isObject, type Json, type JsonObject } from "../../json.ts";
import { compileStateMachine } from "../asl/compile.ts";
import { DefinitionRejected } from "../asl/failure.ts";

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

/** It takes 0.2 s to load and compiles its schemas on every call: only whoever asks for a validation pays for that. */
function aslValidator(): AslValidator {
  loaded ??= createRequire(import.meta.url)("asl-validator") as AslValidator;
  return loaded;
}

/** What stands against creating a state machine: the first thing that AWS would refuse, or that cannot be run here. */
export function checkDefinition(text: string): Diagnostic | undefined {
  const definition = parse(text);
  return "code" in definition ? definition : checkRunnable(definition.value);
}

/** All findings, in the words of asl-validator; then what only the local Step Functions refuses. */
export function diagnoseDefinition(text: string): Diagnostic[] {
  const definition = parse(text);
  if ("code" in definition) return [definition];
  const findings = validate(definition.value);
  const refused = findings.length === 0 ? checkRunnable(definition.value) : undefined;
  return refused ? [refused] : findings;
}

/** asl-validator writes into what it checks, and stumbles over states that are no objects: those are left to us. */
function validate(definition: JsonObject): Diagnostic[] {
  try {
    return aslValidator()(structuredClone(definition)).errors.map(diagnose);
  } catch (error) {
    if (error instanceof TypeError) return [];
    throw error;
  }
}

function parse(text: string): Diagnostic | { value: JsonObject } {
  try {
    const value: Json = text.trim() === "" ? null : JSON.parse(text);
    if (isObject(value)) return { value };
    return diagnostic("SCHEMA_VALIDATION_FAILED", "Definition must be a valid JSON object");
  } catch (error) {
    return diagnostic("INVALID_JSON_DESCRIPTION", (error as SyntaxError).message);
  }
}

function diagnose({ "Error code": code, Message: message, schemaError }: Finding): Diagnostic {
  return diagnostic(code, message.trim(), schemaError && (schemaError.instancePath || "/"));
}

function checkRunnable(definition: Json): Diagnostic | undefined {
  try {
    compileStateMachine(definition);
    return undefined;
  } catch (error) {
    if (!(error instanceof DefinitionRejected)) throw error;
    return diagnostic(error.code, error.message, error.at);
  }
}

function diagnostic(code: string, message: string, location?: string): Diagnostic {
  return { severity: "ERROR", code, message, ...(location === undefined ? {} : { location }) };
}
