import type { Definition } from "../definition.ts";
import { runtimeFailure, StateFailure } from "../failure.ts";
import { compileFormatCall } from "../format-call.ts";
import { compileFieldPath } from "../payload-template.ts";
import type { Scope } from "../scope.ts";
import type { State } from "../state.ts";

type OptionalText = (scope: Scope) => string | undefined;

export function compileFail(name: string, definition: Definition): State {
  const error = compileText(definition, "Error");
  const cause = compileText(definition, "Cause");
  return {
    name,
    type: "Fail",
    run(input, visit) {
      const scope = visit.scope(input);
      throw new StateFailure(error(scope), cause(scope));
    },
  };
}

/** `Error` is fixed; `ErrorPath` is a path or an intrinsic function that must give a string. */
function compileText(definition: Definition, field: "Error" | "Cause"): OptionalText {
  const pathField = `${field}Path`;
  definition.atMostOne(field, pathField);
  const path = definition.optionalText(pathField);
  const fixed = definition.optionalText(field);
  if (path === undefined) return () => fixed;
  const at = definition.path(pathField);
  const read = path.startsWith("States.") ? compileFormatCall(path, at) : compileFieldPath(path, pathField, at);
  return (scope) => {
    const value = read(scope);
    if (typeof value === "string") return value;
    throw runtimeFailure(`The ${pathField} '${path}' must refer to a string, but gave ${JSON.stringify(value)}`);
  };
}
