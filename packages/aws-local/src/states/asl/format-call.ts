import type { Json } from "../../json.ts";
import { DefinitionRejected, EvaluationFailure, runtimeFailure } from "./failure.ts";
import { compilePath, type Expression, type Path, type Scope } from "./path.ts";

const call = /^States\.Format\(\s*'(?<template>(?:[^'\\]|\\.)*)'(?<paths>(?:\s*,\s*\$[^,()\s]*)*)\s*\)$/s;

/**
 * Compiles `States.Format('{}', $.name)`, the only served intrinsic function: a text in quotes, and a path for each
 * `{}` in it.
 * @throws DefinitionRejected
 */
export function compileFormatCall(source: string, at: string): Expression {
  const { template, paths } = call.exec(source)?.groups ?? {};
  if (template === undefined || paths === undefined) {
    const served = "only States.Format of a text and of paths is served here";
    throw new DefinitionRejected(at, `Intrinsic function "${source}": ${served}`);
  }
  const values = paths.split(",").slice(1);
  const compiled = values.map((path) => compilePath(path.trim(), at));
  return (scope) => {
    const texts = compiled.map((path) => String(readArgument(source, path, scope)));
    let used = 0;
    const result = template.replace(/\\(.)|\{\}/g, (_all, escaped) => escaped ?? texts[used++]);
    if (used === texts.length) return result;
    const reason = `The template has ${used} occurrences of {} but ${texts.length} arguments`;
    throw new EvaluationFailure("States.IntrinsicFailure", intrinsicFailure(source, reason));
  };
}

/** Reads an argument as text. Lists and objects are refused: AWS prints them as Java does. */
function readArgument(source: string, path: Path, scope: Scope): Json {
  const value = path.read(scope, (reason) => {
    const input = JSON.stringify(scope.data);
    throw runtimeFailure(
      intrinsicFailure(source, `A JsonPath argument could not be found in the input '${input}' (${reason})`),
    );
  });
  if (typeof value !== "object" || value === null) return value;
  throw runtimeFailure(intrinsicFailure(source, `${path.text} is neither a text nor a number`));
}

function intrinsicFailure(source: string, reason: string): string {
  return `The function '${source}' had the following error: ${reason}`;
}
