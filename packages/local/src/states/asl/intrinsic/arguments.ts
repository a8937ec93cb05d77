import { isObject, type Json, type JsonObject } from "../json.ts";

export type Intrinsic = (values: Json[], random: () => number, uuid: () => string) => Json;

export function arity(values: Json[], least: number, most = least): void {
  if (values.length >= least && values.length <= most) return;
  const expected = least === most ? `${least}` : `${least} to ${most}`;
  throw new RangeError(`Invalid number of arguments: ${expected} expected, ${values.length} given`);
}

export function array(value: Json | undefined, name: string): Json[] {
  if (!Array.isArray(value)) throw new RangeError(`The ${name} must be an array`);
  return value;
}

export function object(value: Json | undefined, name: string): JsonObject {
  if (!isObject(value)) throw new RangeError(`The ${name} must be an object`);
  return value;
}

export function text(value: Json | undefined, name: string, longest = Number.POSITIVE_INFINITY): string {
  if (typeof value !== "string") throw new RangeError(`The ${name} must be a string`);
  if (value.length > longest) throw new RangeError(`The ${name} must have at most ${longest} characters`);
  return value;
}

/** Rounds as AWS does: half up, towards positive infinity. */
export function integer(value: Json | undefined, name: string): number {
  if (typeof value !== "number") throw new RangeError(`The ${name} must be a number`);
  return Math.round(value) + 0;
}
