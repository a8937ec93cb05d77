import { type ExactValue, isRawNumber, parseExact } from "@nova/engine";

export type ExactObject = { [key: string]: ExactValue };

type Visit = (value: ExactObject) => Promise<ExactValue>;

/** JSON text with its outermost objects as `visit` answers them; every number keeps its digits. */
export async function mapObjects(json: string, visit: Visit, indent?: number): Promise<string> {
  return JSON.stringify(await mapped(parseExact(json), visit), null, indent);
}

export async function mapped(value: ExactValue, visit: Visit): Promise<ExactValue> {
  if (value === null || typeof value !== "object" || isRawNumber(value)) return value;
  return Array.isArray(value) ? Promise.all(value.map((one) => mapped(one, visit))) : visit(value);
}

/** An object whose members are mapped, under other keys where `keyOf` says so. */
export async function mapMembers(value: ExactObject, visit: Visit, keyOf = (key: string) => key): Promise<ExactObject> {
  const members = Object.entries(value).map(async ([key, one]) => [keyOf(key), await mapped(one, visit)] as const);
  return Object.fromEntries(await Promise.all(members));
}
