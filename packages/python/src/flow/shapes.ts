import type { ContextShape, ValueShape } from "../shape.ts";
import type { Path } from "./paths.ts";

/** What is known of the value at a path; undefined where nothing is. */
export function shapeAt(shape: ContextShape, [first, ...rest]: Path): ValueShape | undefined {
  let found = first === undefined ? undefined : own(shape, first);
  for (const key of rest) {
    if (!found) return undefined;
    found = key === "[]" ? found.item : own(found.members ?? {}, key);
  }
  return found;
}

/** Whether every key of an object is known. */
export function isComplete(shape: ValueShape): shape is ValueShape & { members: object } {
  return shape.type === "object" && shape.members !== undefined && Object.keys(shape.members).length === shape.size;
}

/** Values that nothing can change. */
export function isScalar(shape: ValueShape | undefined): boolean {
  return shape !== undefined && shape.type !== "list" && shape.type !== "object";
}

function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
