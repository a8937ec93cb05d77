import type { LinkProblem } from "./content-check.ts";

/** Errors of a stored item that has another form than NOVA writes: it lacks a field, or holds something else. */
const unreadable: ReadonlySet<string> = new Set([
  ...["ChainBroken", "DamagedLink", "RangeError", "SyntaxError", "TypeError", "UnknownFormat", "UnreadableRecord"],
]);

/** The sentence for an item that cannot be read. Throws any other error, such as that of a store that did not answer. */
export function unreadableProblem(error: unknown): LinkProblem {
  if (error instanceof Error && unreadable.has(error.name)) return { message: `it cannot be read: ${error.message}` };
  throw error;
}
