import type { Condition } from "@nova/workflow";

export const defaultLabel = "default";

/**
 * The text by which a state machine and the engine name an edge of a decision: a string as it is, `true`, `false`, or
 * a number's shortest JSON text. An edge without a condition catches the rest.
 */
export function labelOf(condition: Condition | undefined): string {
  if (condition === undefined) return defaultLabel;
  return typeof condition === "string" ? condition : JSON.stringify(condition);
}
