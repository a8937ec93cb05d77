import { compareNumbers } from "./decimal.ts";

/** A value in the format of requests; numbers are decimal texts. */
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
  /** The size of all attributes, as DynamoDB counts it. */
  bytes: number;
}

export const attributeTypes = ["S", "N", "BOOL", "NULL", "L", "M"] as const;
export type AttributeType = (typeof attributeTypes)[number];

export function typeOf(value: AttributeValue): AttributeType {
  for (const type in value) return type as AttributeType;
  throw new TypeError("an attribute value has no type - it was not checked when it came in");
}

/** Returns the content of a value: a text for S and N, and an array for a list. */
export function contentOf(value: AttributeValue): unknown {
  return (value as Record<string, unknown>)[typeOf(value)];
}

/** Returns the attribute with this name. A name such as `constructor` does not find a member of the prototype. */
export function attribute(map: AttributeMap, name: string): AttributeValue | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

/** Returns an empty map that accepts any name, even `__proto__`. */
export function emptyMap(): AttributeMap {
  return Object.create(null);
}

/** Returns whether two values are equal. Compares numbers as texts, because equal numbers have the same normal form. */
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

/**
 * Compares two values. Returns a negative number, zero or a positive number, or undefined for values without an order:
 * types other than S and N, or two different types.
 */
export function orderOf(a: AttributeValue, b: AttributeValue): number | undefined {
  if ("S" in a && "S" in b) return Buffer.compare(Buffer.from(a.S), Buffer.from(b.S));
  if ("N" in a && "N" in b) return compareNumbers(a.N, b.N);
  return undefined;
}
