import type { States } from "../asl.ts";
import type { PlannedApproval } from "../lower/plan.ts";
import { branchingOf, branchStates } from "./branches.ts";
import type { Frame } from "./frame.ts";
import { branchState } from "./names.ts";
import { pendingStates } from "./pending.ts";

/** Waits for a person, then goes on by the choice that is in the chain. */
export function emitApproval(node: PlannedApproval, frame: Frame): States {
  const branching = branchingOf(node, frame);
  return {
    ...pendingStates(node, { next: branchState(node.id), ...branching }, frame),
    ...branchStates(node, branching),
  };
}
