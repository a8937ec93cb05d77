import { at } from "../findings/path.ts";

/** Half of a surrogate pair can only stand in a text of UTF-8 where it is escaped. */
const escapedHalf = /\\u[dD][89a-fA-F]/;

/**
 * Where a JSON text has half a character (`"\ud800"` alone), behind `path`; undefined where it has none. No UTF-8 has
 * halves, so no node could give back what it finds there.
 */
export function halfCharacterIn(json: string, path = "$"): string | undefined {
  return escapedHalf.test(json) ? halfIn(JSON.parse(json), path) : undefined;
}

function halfIn(value: unknown, path: string): string | undefined {
  if (typeof value === "string") return value.isWellFormed() ? undefined : path;
  if (typeof value !== "object" || value === null) return undefined;
  const steps = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [step, inside] of steps) {
    const there = at(path, step);
    const found = typeof step === "string" && !step.isWellFormed() ? there : halfIn(inside, there);
    if (found !== undefined) return found;
  }
  return undefined;
}
