import { isObject, type Json, type JsonObject, setOwn } from "../../json.ts";
import type { Definition } from "./definition.ts";
import { DefinitionRejected, EvaluationFailure, runtimeFailure } from "./failure.ts";
import { compilePath, type Expression, type Path, type Scope } from "./path.ts";

/** Compiles a field such as Parameters or ItemSelector; undefined if the state does not have it. */
export function compileTemplateField(definition: Definition, field: string): Expression | undefined {
  const template = definition.get(field);
  if (template === null) throw definition.reject(field, "must not be null");
  return template === undefined ? undefined : compileTemplate(template, definition.path(field));
}

/** Compiles JSON in which a key with the suffix `.$` holds a path or an intrinsic function. */
function compileTemplate(template: Json, at: string): Expression {
  if (Array.isArray(template)) return compileList(template, at);
  if (isObject(template)) return compileObject(template, at);
  return () => template;
}

function compileList(list: Json[], at: string): Expression {
  if (!hasPaths(list)) return () => list;
  const items = list.map((item, i) => compileTemplate(item, `${at}[${i}]`));
  return (scope) => items.map((item) => item(scope));
}

function compileObject(object: JsonObject, at: string): Expression {
  if (!hasPaths(object)) return () => object;
  const fields = Object.entries(object).map(([key, value]): [string, Expression] =>
    key.endsWith(".$")
      ? [key.slice(0, -2), compileReference(key, value, `${at}/${key}`)]
      : [key, compileTemplate(value, `${at}/${key}`)],
  );
  return (scope) => {
    const result: JsonObject = {};
    for (const [key, read] of fields) setOwn(result, key, read(scope));
    return result;
  };
}

function compileReference(key: string, value: Json, at: string): Expression {
  if (typeof value !== "string") {
    throw new DefinitionRejected(
      at,
      `The value for the field '${key}' must be a valid JSONPath or a valid intrinsic function call`,
    );
  }
  return value.startsWith("States.") ? compileFormatCall(value, at) : compileFieldPath(value, key, at);
}

/** Compiles a path. If the path finds nothing, the error names `field`, which contains the path. */
export function compileFieldPath(text: string, field: string, at: string): Expression {
  const path = compilePath(text, at);
  return (scope) =>
    path.read(scope, () => {
      const input = JSON.stringify(scope.data);
      throw runtimeFailure(
        `The JSONPath '${text}' specified for the field '${field}' could not be found in the input '${input}'`,
      );
    });
}

function hasPaths(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasPaths);
  return isObject(value) && Object.entries(value).some(([key, inner]) => key.endsWith(".$") || hasPaths(inner));
}

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
