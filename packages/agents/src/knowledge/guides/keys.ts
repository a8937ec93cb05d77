import type { ContextShape, ValueShape } from "@nova/python";

/** Every key at any depth with the type of its value, as `invoice.pdf: bytes`; lists by their first item. */
export function keysOf(schema: ContextShape): string[] {
  return Object.entries(schema).flatMap(([key, value]) => [`${key}: ${value.type}`, ...keysInside(value)]);
}

function keysInside({ item, members }: ValueShape): string[] {
  return [...(item ? keysInside(item) : []), ...(members ? keysOf(members) : [])];
}
