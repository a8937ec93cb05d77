import { isObject, type Json, type JsonObject, setOwn } from "../../json.ts";
import { DefinitionRejected, EvaluationFailure } from "./failure.ts";

/** The data that fields of a state can read: `$` is the data, `$$` the context object. */
export interface Scope {
  data: Json;
  context: JsonObject;
}

/** A compiled field. It computes the value of the field from the values at the paths in the field. */
export type Expression = (scope: Scope) => Json;

export interface Path {
  text: string;
  /**
   * Reads the value at the path. If there is no value, it calls `missing` with the reason, and returns the result of
   * `missing`. `missing` may throw, because each field has its own error.
   */
  read<T>(scope: Scope, missing: (reason: string) => T): Json | T;
}

type Step = string | number;

/** Matches a JSONPath that leads to a single place. Other paths are not served. */
const PATH = /^\$\$?(?:\.[^.[\]()?*,:'"\s$@&|=<>!]+|\[\d+\])*$/;
const STEP = /\.([^.[]+)|\[(\d+)\]/g;

/**
 * Parses a path once, so that later reads only follow the parsed steps. `at` is the position in the definition, for
 * errors.
 * @throws DefinitionRejected
 */
export function compilePath(text: string, at: string): Path {
  const root = text.startsWith("$$") ? "context" : "data";
  if (root === "context" && !/^\$\$\.(State|Task|Map)\./.test(text)) {
    throw new DefinitionRejected(at, `"${text}" is not served here: only $$.State, $$.Task and $$.Map are`);
  }
  const steps = parseSteps(text, at);
  return { text, read: (scope, missing) => readAt(scope[root], steps, missing) };
}

function parseSteps(text: string, at: string): Step[] {
  if (PATH.test(text)) return [...text.matchAll(STEP)].map(([, key, index]) => key ?? Number(index));
  const example = "only paths such as $.items[0].name are served here";
  throw new DefinitionRejected(at, `"${text}" is not a JSONPath that names one place: ${example}`);
}

function readAt<T>(start: Json, steps: readonly Step[], missing: (reason: string) => T): Json | T {
  let value = start;
  for (const [depth, step] of steps.entries()) {
    const next = child(value, step);
    if (next === undefined) return missing(describeMissing(steps, depth));
    value = next;
  }
  return value;
}

function child(value: Json, step: Step): Json | undefined {
  if (typeof step === "number") return Array.isArray(value) ? value[step] : undefined;
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

/**
 * Explains why a path finds no value, in AWS's words. AWS has one text for a missing last step of the path, and another
 * for a missing earlier step.
 */
function describeMissing(steps: readonly Step[], depth: number): string {
  const shown = steps.slice(0, depth + 1).map((step) => (typeof step === "number" ? `[${step}]` : `['${step}']`));
  const path = `$${shown.join("")}`;
  return depth === steps.length - 1 ? `No results for path: ${path}` : `Missing property in path ${path}`;
}

/** Places a result into a state's raw input. It copies the objects on the path, so the input never changes. */
export type ResultWriter = (input: Json, result: Json) => Json;

/**
 * Compiles ResultPath. If it is absent or `$`, the result replaces the input. If it is `null`, the result is discarded.
 * A path of names says where in the input the result is placed.
 */
export function compileResultPath(resultPath: unknown, at: string): ResultWriter {
  if (resultPath === undefined || resultPath === "$") return (_input, result) => result;
  if (resultPath === null) return (input) => input;
  if (typeof resultPath !== "string") throw new DefinitionRejected(at, "ResultPath must be a path or null");
  const steps = parseSteps(resultPath, at);
  if (resultPath.startsWith("$$") || !steps.every((step) => typeof step === "string")) {
    throw new DefinitionRejected(at, `ResultPath "${resultPath}" must be a path of names such as $.result`);
  }
  return (input, result) => placeResult(input, steps, result);
}

function placeResult(target: Json, [step, ...rest]: readonly string[], result: Json): Json {
  if (step === undefined) return result;
  if (!isObject(target)) {
    const what = `Unable to apply step "${step}" to input ${JSON.stringify(target)}`;
    throw new EvaluationFailure("States.ResultPathMatchFailure", what);
  }
  const copy = { ...target };
  setOwn(copy, step, placeResult(Object.hasOwn(target, step) ? (target[step] as Json) : {}, rest, result));
  return copy;
}
