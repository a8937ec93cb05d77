import { hash } from "node:crypto";
import type { Ingredients } from "@nova/workflow";

/** SHA-256 of everything that code depends on: what has the same key can run in its place. */
export function generationKey(ingredients: Ingredients): string {
  return hash("sha256", JSON.stringify(sorted(ingredients)));
}

/** What tells generations of a node apart. */
export type Identified = { key: string; codeHash: string };

/**
 * Names one generation among those of a node. The key alone does not: code that failed and the code that replaced it
 * were written for the same thing.
 */
export function generationId({ key, codeHash }: Identified): string {
  return `${key}.${codeHash.slice(0, 16)}`;
}

/** The same value however an object was put together: fields sorted, lists as they are. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, inside]) => [name, sorted(inside)]));
}
