import type { Json } from "../../../json.ts";
import type { Definition } from "../definition.ts";
import { runtimeFailure } from "../failure.ts";
import { compilePath, type Path, PathNotFound } from "../path/read-path.ts";
import type { Scope } from "../scope.ts";
import { compileNext, compileSelector, type State } from "../state.ts";
import { parseTimestamp } from "../timestamp.ts";

/** How long to wait, given the time now. */
type Delay = (scope: Scope, nowMs: number) => number;

export function compileWait(name: string, definition: Definition): State {
  const next = compileNext(definition);
  const inputPath = compileSelector(definition, "InputPath");
  const outputPath = compileSelector(definition, "OutputPath");
  const delay = compileDelay(definition);
  return {
    name,
    type: "Wait",
    async run(input, visit) {
      const selected = inputPath(visit.scope(input));
      await visit.thread.sleep(delay(visit.scope(selected), visit.thread.run.host.now()), "wait");
      return { output: outputPath(visit.scope(selected)), next };
    },
  };
}

function compileDelay(definition: Definition): Delay {
  const field = definition.atMostOne("Seconds", "SecondsPath", "Timestamp", "TimestampPath");
  if (field === undefined) throw definition.reject("Seconds", "is required, or SecondsPath, Timestamp, TimestampPath");
  const seconds = definition.optionalInteger("Seconds", 0, 99_999_999);
  if (seconds !== undefined) return () => seconds * 1000;
  const timestamp = definition.optionalText("Timestamp");
  if (timestamp !== undefined) return untilFixed(definition, timestamp);
  if (field === "SecondsPath") return secondsFrom(readable(definition, "SecondsPath"));
  return untilFrom(readable(definition, "TimestampPath"));
}

function untilFixed(definition: Definition, timestamp: string): Delay {
  const until = parseTimestamp(timestamp);
  if (until === undefined)
    throw definition.reject("Timestamp", "must be an ISO 8601 time such as 2026-01-31T12:00:00Z");
  return (_scope, nowMs) => Math.max(0, until - nowMs);
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

function untilFrom(path: Path): Delay {
  return (scope, nowMs) => {
    const value = readField(path, "TimestampPath", scope);
    const until = typeof value === "string" ? parseTimestamp(value) : undefined;
    if (until !== undefined) return Math.max(0, until - nowMs);
    throw runtimeFailure(
      `The TimestampPath parameter does not reference a valid ISO-8601 extended offset date-time format string: ${path.text} == ${value}`,
    );
  };
}

function readable(definition: Definition, field: string): Path {
  return compilePath(definition.text(field), definition.path(field));
}

function readField(path: Path, field: string, scope: Scope): Json {
  try {
    return path.read(scope);
  } catch (error) {
    if (!(error instanceof PathNotFound)) throw error;
    throw runtimeFailure(`The ${field} parameter does not reference an input value: ${path.text}`);
  }
}
