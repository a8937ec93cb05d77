/** A value as it is on the wire; numbers are decimal texts, binaries base64. */
export type AttributeValue =
  | { S: string }
  | { N: string }
  | { B: string }
  | { BOOL: boolean }
  | { NULL: true }
  | { SS: string[] }
  | { NS: string[] }
  | { BS: string[] }
  | { L: AttributeValue[] }
  | { M: AttributeMap };

export type AttributeMap = { [name: string]: AttributeValue };

export const attributeTypes = ["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"] as const;
export type AttributeType = (typeof attributeTypes)[number];

export function typeOf(value: AttributeValue): AttributeType {
  for (const type in value) return type as AttributeType;
  throw new TypeError("an attribute value has no type - it was not checked when it came in");
}

/** What is inside: a text of S, N, B; an array of a set or a list. */
export function contentOf(value: AttributeValue): unknown {
  return (value as Record<string, unknown>)[typeOf(value)];
}

/** The set's members, where it is a set. */
export function membersOf(value: AttributeValue): string[] | undefined {
  if ("SS" in value) return value.SS;
  if ("NS" in value) return value.NS;
  return "BS" in value ? value.BS : undefined;
}

/** An attribute by its name; names such as `constructor` are names like any other. */
export function attribute(map: AttributeMap, name: string): AttributeValue | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

/** A map to which any name can be added, `__proto__` too. */
export function emptyMap(): AttributeMap {
  return Object.create(null);
}
