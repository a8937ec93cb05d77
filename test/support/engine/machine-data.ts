import type { ChoiceState, Comparison, Parameters } from "../../../packages/compiler/src/asl.ts";

export type Json = Record<string, unknown>;

/** Returns the value at a JSON path such as `$.error.Cause`. */
export function at(data: unknown, path: string | undefined): unknown {
  const steps = (path ?? "$").split(".").slice(1);
  return steps.reduce((value: unknown, step) => (value as Json | undefined)?.[step], data);
}

/**
 * Evaluates Parameters or an ItemSelector: constants, JSON paths, paths of the context object (`$$`) and States.Format.
 */
export function resolved(parameters: Parameters, data: Json, context: Json = {}): Json {
  const members = Object.entries(parameters).map(([key, value]) => {
    if (!key.endsWith(".$")) return [key, typeof value === "object" ? resolved(value, data, context) : value];
    const found = textOf(String(value), data, context);
    if (found === undefined) throw new RangeError(`States.ParameterPathFailure: ${value}`);
    return [key.slice(0, -2), found];
  });
  return Object.fromEntries(members) as Json;
}

function textOf(expression: string, data: Json, context: Json): unknown {
  const [, template, paths = ""] = /^States\.Format\('([^']*)', (.*)\)$/.exec(expression) ?? [];
  if (template === undefined) return expression.startsWith("$$") ? at(context, expression) : at(data, expression);
  const values = paths.split(", ").map((path) => String(at(data, path)));
  return template.replaceAll("{}", () => values.shift() ?? "");
}

export function chosen({ Choices, Default }: ChoiceState, data: Json): string {
  const rule = Choices.find((one) => ("And" in one ? one.And.every((each) => holds(each, data)) : holds(one, data)));
  return rule?.Next ?? Default;
}

function holds({ Variable, StringEquals, BooleanEquals, IsPresent }: Comparison, data: Json): boolean {
  const value = at(data, Variable);
  return value !== undefined && (IsPresent ?? value === (StringEquals ?? BooleanEquals));
}

export function roundTrip<T extends Json>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
