import { EvaluationFailure, runtimeFailure } from "../failure.ts";
import type { Json } from "../json.ts";
import { compilePath, PathNotFound } from "../path/read-path.ts";
import type { Expression, Scope } from "../scope.ts";
import { intrinsics } from "./functions.ts";
import { type Argument, type Call, parseIntrinsic } from "./parse-intrinsic.ts";

/** Compiles `States.Format('{}', $.name)` and its kin. @throws DefinitionRejected */
export function compileIntrinsic(text: string, at: string): Expression {
  return compileCall(parseIntrinsic(text, at), at);
}

function compileCall(call: Call, at: string): Expression {
  const run = intrinsics[call.name] as (typeof intrinsics)[string];
  const compiled = call.arguments.map((argument) => compileArgument(argument, at));
  return (scope) => {
    const values = compiled.map((argument) => readArgument(call, argument, scope));
    try {
      return run(values, scope.random, scope.uuid);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new EvaluationFailure("States.IntrinsicFailure", failed(call, error.message));
    }
  };
}

function compileArgument(argument: Argument, at: string): Expression {
  if (argument.kind === "call") return compileCall(argument.call, at);
  if (argument.kind === "literal") return () => argument.value;
  const path = compilePath(argument.path, at);
  return (scope) => path.read(scope);
}

function readArgument(call: Call, argument: Expression, scope: Scope): Json {
  try {
    return argument(scope);
  } catch (error) {
    if (!(error instanceof PathNotFound)) throw error;
    const input = JSON.stringify(scope.data);
    throw runtimeFailure(
      failed(call, `A JsonPath argument could not be found in the input '${input}' (${error.message})`),
    );
  }
}

function failed(call: Call, reason: string): string {
  return `The function '${call.text}' had the following error: ${reason}`;
}
