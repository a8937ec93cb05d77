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

/** Without a call for each level: nobody has looked yet how deep it is. */
function halfIn(whole: unknown, path: string): string | undefined {
  const waiting = [{ value: whole, path }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value, path } = next;
    if (typeof value === "string" && !value.isWellFormed()) return path;
    if (typeof value !== "object" || value === null) continue;
    const steps = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
    const broken = steps.find(([step]) => typeof step === "string" && !step.isWellFormed());
    if (broken) return at(path, broken[0]);
    for (const [step, inside] of steps.reverse()) waiting.push({ value: inside, path: at(path, step) });
  }
  return undefined;
}
