import type { Path } from "./flow/paths.ts";

/** The type of a value, its size and the shapes of its parts. `size` counts characters, bytes, items or keys. */
export interface ValueShape {
  type: "null" | "boolean" | "integer" | "number" | "string" | "bytes" | "list" | "object";
  size?: number;
  /** The first item of a list; absent if the list is empty. */
  item?: ValueShape;
  /** The known members of an object; absent for large values. */
  members?: Readonly<Record<string, ValueShape>>;
}

export type ContextShape = Readonly<Record<string, ValueShape>>;

/** Returns the shape of a value from JSON.parse, with all members of its objects. */
export function shapeOf(value: unknown): ValueShape {
  if (value === null || value === undefined) return { type: "null" };
  if (typeof value === "boolean") return { type: "boolean" };
  if (typeof value === "number") return { type: Number.isInteger(value) ? "integer" : "number" };
  if (typeof value === "string") return { type: "string", size: value.length };
  if (Array.isArray(value)) {
    return { type: "list", size: value.length, ...(value.length > 0 && { item: shapeOf(value[0]) }) };
  }
  const members = Object.entries(value as object).map(([key, member]) => [key, shapeOf(member)] as const);
  return { type: "object", size: members.length, members: Object.fromEntries(members) };
}

export function shapeAt(shape: ContextShape, [first, ...rest]: Path): ValueShape | undefined {
  let found = first === undefined ? undefined : own(shape, first);
  for (const key of rest) {
    if (!found) return undefined;
    found = key === "[]" ? found.item : own(found.members ?? {}, key);
  }
  return found;
}

/** Returns whether every key of an object is known. */
export function isComplete(shape: ValueShape): shape is ValueShape & { members: object } {
  return shape.type === "object" && shape.members !== undefined && Object.keys(shape.members).length === shape.size;
}

export function isScalar(shape: ValueShape | undefined): boolean {
  return shape !== undefined && shape.type !== "list" && shape.type !== "object";
}

function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
