import type { Condition } from "./workflow.ts";

/** The condition that catches what no other edge of a decision matches. */
export const defaultLabel = "default";

/**
 * The text by which the state machine and the engine name an edge of a decision: a string as it is, `true`, `false`,
 * or a number's shortest JSON text. An edge without a condition catches the rest.
 */
export function labelOf(condition: Condition | undefined): string {
  if (condition === undefined) return defaultLabel;
  return typeof condition === "string" ? condition : JSON.stringify(condition);
}
