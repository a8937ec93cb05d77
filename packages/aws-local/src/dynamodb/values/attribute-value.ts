import { compareNumbers } from "./decimal.ts";

/** A value as it is on the wire; numbers are decimal texts. */
export type AttributeValue =
  | { S: string }
  | { N: string }
  | { BOOL: boolean }
  | { NULL: true }
  | { L: AttributeValue[] }
  | { M: AttributeMap };

export type AttributeMap = { [name: string]: AttributeValue };

export interface Attributes {
  attributes: AttributeMap;
  /** As DynamoDB counts them. */
  bytes: number;
}

export const attributeTypes = ["S", "N", "BOOL", "NULL", "L", "M"] as const;
export type AttributeType = (typeof attributeTypes)[number];

export function typeOf(value: AttributeValue): AttributeType {
  for (const type in value) return type as AttributeType;
  throw new TypeError("an attribute value has no type - it was not checked when it came in");
}

/** What is inside: a text of S and N; an array of a list. */
export function contentOf(value: AttributeValue): unknown {
  return (value as Record<string, unknown>)[typeOf(value)];
}

/** An attribute by its name; names such as `constructor` are names like any other. */
export function attribute(map: AttributeMap, name: string): AttributeValue | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

/** A map to which any name can be added, `__proto__` too. */
export function emptyMap(): AttributeMap {
  return Object.create(null);
}

/** Numbers have one text each: equal values have equal texts. */
export function areEqual(a: AttributeValue, b: AttributeValue): boolean {
  if (typeOf(a) !== typeOf(b)) return false;
  if ("L" in a && "L" in b) return a.L.length === b.L.length && a.L.every((v, i) => areEqual(v, b.L[i] ?? { L: [] }));
  if ("M" in a && "M" in b) return areMapsEqual(a.M, b.M);
  return contentOf(a) === contentOf(b);
}

function areMapsEqual(a: AttributeMap, b: AttributeMap): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => {
    const [left, right] = [attribute(a, name), attribute(b, name)];
    return left !== undefined && right !== undefined && areEqual(left, right);
  });
}

/** Undefined where the two have no order: other types than S and N, or different ones. */
export function orderOf(a: AttributeValue, b: AttributeValue): number | undefined {
  if ("S" in a && "S" in b) return Buffer.compare(Buffer.from(a.S), Buffer.from(b.S));
  if ("N" in a && "N" in b) return compareNumbers(a.N, b.N);
  return undefined;
}
