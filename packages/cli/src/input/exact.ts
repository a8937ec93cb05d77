import { type ExactValue, isRawNumber, parseExact } from "@nova/engine";

export type ExactObject = { [key: string]: ExactValue };

type Visit = (value: ExactObject) => Promise<ExactValue>;

/** Maps the outermost objects of a JSON text; every number keeps its digits. */
export async function mapObjects(json: string, visit: Visit, indent?: number): Promise<string> {
  return JSON.stringify(await mapValue(parseExact(json), visit), null, indent);
}

export async function mapValue(value: ExactValue, visit: Visit): Promise<ExactValue> {
  if (value === null || typeof value !== "object" || isRawNumber(value)) return value;
  return Array.isArray(value) ? Promise.all(value.map((one) => mapValue(one, visit))) : visit(value);
}

/** Maps the members of an object; `keyOf` may rename their keys. */
export async function mapMembers(value: ExactObject, visit: Visit, keyOf = (key: string) => key): Promise<ExactObject> {
  const members = Object.entries(value).map(async ([key, one]) => [keyOf(key), await mapValue(one, visit)] as const);
  return Object.fromEntries(await Promise.all(members));
}
