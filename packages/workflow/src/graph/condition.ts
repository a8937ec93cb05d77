import type { Condition } from "../workflow.ts";

/** The condition that catches what no other edge of a decision matches. */
export const defaultLabel = "default";

/** The condition of the edge that an approval takes when nobody has answered in time. */
export const timeoutLabel = "timeout";

/**
 * The text by which state machine and engine name an edge of a decision: a string as it is, `true`, `false`, or a
 * number's shortest JSON text. `true` and `"true"` are one condition, so are 1 and `"1"`. No condition is the default.
 */
export function conditionLabel(condition: Condition | undefined): string {
  if (condition === undefined) return defaultLabel;
  return typeof condition === "string" ? condition : JSON.stringify(condition);
}
