import type { States } from "../asl.ts";
import type { PlannedDecision } from "../lower/plan.ts";
import { branchingOf, branchStates } from "./branches.ts";
import type { Frame } from "./frame.ts";
import { behindTask, runningStates } from "./long.ts";
import { branchState } from "./names.ts";
import { afterFailure, settleStates } from "./settle.ts";
import { catchTo, codeParameters, lambdaTask } from "./task.ts";

/** The task that decides, then a Choice over the committed decision; what no edge fits is a failure. */
export function emitDecision(node: PlannedDecision, frame: Frame): States {
  const task = lambdaTask(
    frame.functions.runNode,
    {
      comment: node.comment,
      parameters: codeParameters(node.id),
      catchers: catchTo(afterFailure(node, frame), frame),
      retry: node.retry,
    },
    behindTask(node, branchState(node.id)),
  );
  const branching = branchingOf(node, frame);
  return {
    [node.id]: task,
    ...runningStates(node, branchState(node.id)),
    ...branchStates(node, branching),
    ...settleStates(node, branching.rules, branching.otherwise, frame),
  };
}
