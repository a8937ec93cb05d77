import type { Json } from "../../json.ts";
import { DefinitionRejected, EvaluationFailure, runtimeFailure } from "./failure.ts";
import { compilePath, PathNotFound } from "./path/read-path.ts";
import type { Expression, Scope } from "./scope.ts";

const call = /^States\.Format\((?<args>.*)\)$/s;
const argument =
  /\s*(?:'(?<text>(?:[^'\\]|\\.)*)'|(?<path>\$\$?(?:\[(?:'(?:[^'\\]|\\.)*'|[^\]])*\]|[^,()[\]\s])*)|(?<constant>true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?))\s*(?:,|$)/y;

/**
 * Compiles `States.Format('{}', $.name)`: of the intrinsic functions of AWS the one that NOVA's state machines call.
 * @throws DefinitionRejected
 */
export function compileFormatCall(source: string, at: string): Expression {
  const parts = argumentsOf(source, at);
  return (scope) => {
    const [template, ...values] = parts.map((read) => readArgument(source, read, scope));
    try {
      return format(template ?? null, values);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new EvaluationFailure("States.IntrinsicFailure", failed(source, error.message));
    }
  };
}

function argumentsOf(source: string, at: string): Expression[] {
  const args = call.exec(source)?.groups?.args;
  if (args === undefined) throw rejected(source, at, "only States.Format is served here");
  const parts: Expression[] = [];
  for (argument.lastIndex = 0; argument.lastIndex < args.length; ) {
    const from = argument.lastIndex;
    const { text, path, constant } = argument.exec(args)?.groups ?? {};
    if (path !== undefined) {
      const compiled = compilePath(path, at);
      parts.push((scope) => compiled.read(scope));
    } else if (text !== undefined || constant !== undefined) {
      const value: Json = text === undefined ? JSON.parse(constant as string) : unescaped(text);
      parts.push(() => value);
    } else throw rejected(source, at, `a text, a path or a constant is expected at "${args.slice(from)}"`);
  }
  return parts;
}

function rejected(source: string, at: string, reason: string): DefinitionRejected {
  return new DefinitionRejected(at, `Intrinsic function "${source}": ${reason}`);
}

/** `\{` and `\}` stay as they are for `format`. */
function unescaped(text: string): string {
  return text.replace(/\\([^{}])/g, "$1");
}

function readArgument(source: string, argument: Expression, scope: Scope): Json {
  try {
    return argument(scope);
  } catch (error) {
    if (!(error instanceof PathNotFound)) throw error;
    const input = JSON.stringify(scope.data);
    const reason = `A JsonPath argument could not be found in the input '${input}' (${error.message})`;
    throw runtimeFailure(failed(source, reason));
  }
}

function failed(source: string, reason: string): string {
  return `The function '${source}' had the following error: ${reason}`;
}

function format(template: Json, values: Json[]): string {
  if (typeof template !== "string") throw new RangeError("The template must be a string");
  let used = 0;
  const result = template.replace(/\\([{}\\'])|\{\}/g, (_all, escaped: string | undefined) => {
    if (escaped !== undefined) return escaped;
    return javaText(values[used++] ?? null);
  });
  if (used !== values.length) {
    throw new RangeError(`The template has ${used} occurrences of {} but ${values.length} arguments`);
  }
  return result;
}

/** Objects print as a Java map does, `{key=value}`: not JSON, but what AWS gives. */
function javaText(value: Json): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(javaText).join(", ")}]`;
  return `{${Object.entries(value)
    .map(([key, inner]) => `${key}=${javaText(inner)}`)
    .join(", ")}}`;
}
