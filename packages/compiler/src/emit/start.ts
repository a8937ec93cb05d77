import type { States } from "../asl.ts";
import type { PlannedStart } from "../lower/plan.ts";
import { goOn } from "./frame.ts";
import { onward } from "./onward.ts";

/** Nothing runs here: link 0 was written before the execution started. */
export function emitStart(node: PlannedStart): States {
  const comment = node.comment === undefined ? {} : { Comment: node.comment };
  return { [node.id]: { Type: "Pass", ...comment, ...goOn(onward(node)) } };
}
