import { isObject, type Json, setOwn } from "../../../json.ts";
import { DefinitionRejected, EvaluationFailure } from "../failure.ts";
import { parsePath, type Step } from "./parse-path.ts";

/** Puts a result into a state's raw input. The input is never changed: what lies on the way is copied. */
export type ResultWriter = (input: Json, result: Json) => Json;

/** ResultPath: absent or `$` replaces the input, `null` discards the result, a reference path places it. */
export function compileResultPath(resultPath: unknown, at: string): ResultWriter {
  if (resultPath === undefined || resultPath === "$") return (_input, result) => result;
  if (resultPath === null) return (input) => input;
  if (typeof resultPath !== "string") throw new DefinitionRejected(at, "ResultPath must be a path or null");
  const { root, steps } = parsePath(resultPath, at);
  if (root === "context" || !steps.every((step) => step.kind === "key" || step.kind === "index")) {
    throw new DefinitionRejected(at, `ResultPath "${resultPath}" must be a reference path such as $.result`);
  }
  return (input, result) => place(input, steps, 0, result);
}

function place(target: Json, steps: readonly Step[], depth: number, result: Json): Json {
  const step = steps[depth];
  if (step === undefined) return result;
  if (step.kind === "index") return placeItem(target, step.index, steps, depth, result);
  if (step.kind !== "key" || !isObject(target)) throw cannotApply(steps, depth, target);
  const copy = { ...target };
  const inner = Object.hasOwn(target, step.key) ? (target[step.key] as Json) : {};
  setOwn(copy, step.key, place(inner, steps, depth + 1, result));
  return copy;
}

function placeItem(target: Json, index: number, steps: readonly Step[], depth: number, result: Json): Json {
  if (!Array.isArray(target) || index < 0 || index >= target.length) throw cannotApply(steps, depth, target);
  return target.with(index, place(target[index] as Json, steps, depth + 1, result));
}

function cannotApply(steps: readonly Step[], depth: number, target: Json): EvaluationFailure {
  const step = steps[depth];
  const name = step?.kind === "key" ? step.key : step?.kind === "index" ? String(step.index) : "";
  return new EvaluationFailure(
    "States.ResultPathMatchFailure",
    `Unable to apply step "${name}" to input ${JSON.stringify(target)}`,
  );
}
