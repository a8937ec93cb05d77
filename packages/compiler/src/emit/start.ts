import type { PassState, State } from "../asl.ts";
import type { PlannedStart } from "../lower/plan.ts";

/** Nothing runs here: link 0 was written before the execution started. */
export function emitStart(node: PlannedStart): Record<string, State> {
  const state: PassState = {
    Type: "Pass",
    ...(node.comment !== undefined && { Comment: node.comment }),
    Next: node.next,
  };
  return { [node.id]: state };
}
