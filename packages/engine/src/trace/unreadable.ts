import type { LinkProblem } from "./content-check.ts";

/** Errors of a stored item that NOVA did not write in this form: it lacks a field, or has a wrong value. */
const unreadable: ReadonlySet<string> = new Set([
  "ChainBroken",
  "DamagedLink",
  "RangeError",
  "SyntaxError",
  "TypeError",
  "UnknownFormat",
  "UnreadableRecord",
]);

/**
 * Returns the message for an item that cannot be read. Throws any other error, for example of a store that did not
 * answer.
 */
export function unreadableProblem(error: unknown): LinkProblem {
  if (error instanceof Error && unreadable.has(error.name)) return { message: `it cannot be read: ${error.message}` };
  throw error;
}
