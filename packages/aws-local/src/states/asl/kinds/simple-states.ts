import type { Json } from "../../../json.ts";
import type { Definition } from "../definition.ts";
import { runtimeFailure, StateFailure } from "../failure.ts";
import { compilePath, type Path, type Scope } from "../path.ts";
import { compileFieldPath, compileTemplateField } from "../payload-template.ts";
import { compileNext, compileOutput, type State } from "../state.ts";

export function compilePass(name: string, definition: Definition): State {
  const next = compileNext(definition);
  const finish = compileOutput(definition);
  const build = compileTemplateField(definition, "Parameters");
  const fixed: Json | undefined = definition.get("Result");
  return {
    name,
    type: "Pass",
    run(input, visit) {
      const built = build ? build(visit.scope(input)) : input;
      return { output: finish(input, fixed === undefined ? built : fixed, visit), next };
    },
  };
}

export function compileSucceed(name: string): State {
  return { name, type: "Succeed", run: (input) => ({ output: input, next: undefined }) };
}

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

/** Compiles a text of a Fail state: a fixed one such as `Error`, or a path to a string such as `ErrorPath`. */
function compileText(definition: Definition, field: "Error" | "Cause"): (scope: Scope) => string | undefined {
  const pathField = `${field}Path`;
  definition.atMostOne(field, pathField);
  const path = definition.optionalText(pathField);
  const fixed = definition.optionalText(field);
  if (path === undefined) return () => fixed;
  const read = compileFieldPath(path, pathField, definition.path(pathField));
  return (scope) => {
    const value = read(scope);
    if (typeof value === "string") return value;
    throw runtimeFailure(`The ${pathField} '${path}' must refer to a string, but gave ${JSON.stringify(value)}`);
  };
}

/** Returns the milliseconds for which a Wait state waits from now on. */
type Delay = (scope: Scope, nowMs: number) => number;

export function compileWait(name: string, definition: Definition): State {
  const next = compileNext(definition);
  const delay = compileDelay(definition);
  return {
    name,
    type: "Wait",
    async run(input, visit) {
      await visit.thread.sleep(delay(visit.scope(input), visit.thread.run.host.now()), "wait");
      return { output: input, next };
    },
  };
}

function compileDelay(definition: Definition): Delay {
  const field = definition.atMostOne("Seconds", "SecondsPath", "TimestampPath");
  if (field === undefined) throw definition.reject("Seconds", "is required, or SecondsPath, TimestampPath");
  const seconds = definition.optionalInteger("Seconds", 0, 99_999_999);
  if (seconds !== undefined) return () => seconds * 1000;
  const path = compilePath(definition.text(field), definition.path(field));
  return field === "SecondsPath" ? secondsFrom(path) : untilFrom(path);
}

function secondsFrom(path: Path): Delay {
  return (scope) => {
    const value = readField(path, "SecondsPath", scope);
    const shown = `${path.text} == ${value}`;
    if (!Number.isInteger(value)) {
      throw runtimeFailure(`The SecondsPath parameter cannot be parsed as a long value: ${shown}`);
    }
    if ((value as number) < 0) throw runtimeFailure(`The SecondsPath parameter references a negative value: ${shown}`);
    return (value as number) * 1000;
  };
}

/**
 * A timestamp that AWS accepts: RFC 3339 with a capital `T`, with seconds and any number of decimals, and with `Z` or
 * an offset.
 */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function untilFrom(path: Path): Delay {
  return (scope, nowMs) => {
    const value = readField(path, "TimestampPath", scope);
    const until = typeof value === "string" && TIMESTAMP.test(value) ? Date.parse(value) : Number.NaN;
    if (!Number.isNaN(until)) return Math.max(0, until - nowMs);
    throw runtimeFailure(
      `The TimestampPath parameter does not reference a valid ISO-8601 extended offset date-time format string: ${path.text} == ${value}`,
    );
  };
}

function readField(path: Path, field: string, scope: Scope): Json {
  return path.read(scope, () => {
    throw runtimeFailure(`The ${field} parameter does not reference an input value: ${path.text}`);
  });
}
