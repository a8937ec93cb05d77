import { type Finding, finding } from "../../findings/finding.ts";
import { at } from "../../findings/path.ts";

/** JSON has numbers of any size, which no node could read: Python and JavaScript make infinity of 1e400. */
export function* checkNumbers(value: unknown, { name, path }: { name: string; path: string }): Iterable<Finding> {
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    const message = `${name} has a number beyond 1.8e308, which no node could read - write it as a text`;
    yield finding("NOVA104", path, message);
  } else if (typeof value === "object" && value !== null) {
    const steps = Array.isArray(value) ? value.entries() : Object.entries(value);
    for (const [step, inside] of steps) yield* checkNumbers(inside, { name, path: at(path, step) });
  }
}
