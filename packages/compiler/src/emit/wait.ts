import type { States } from "../asl.ts";
import type { PlannedWait } from "../lower/plan.ts";
import type { Frame } from "./frame.ts";
import { pausedState, waitedState } from "./names.ts";
import { onward } from "./onward.ts";
import { pendingStates } from "./pending.ts";
import { afterFailure, settleStates } from "./settle.ts";
import { catchTo, lambdaTask, nodeParameters } from "./task.ts";

export function emitWait(node: PlannedWait, frame: Frame): States {
  const next = onward(node);
  const { timeoutSeconds } = node;
  if (timeoutSeconds === undefined) return untilStates(node, frame);
  return pendingStates({ ...node, timeoutSeconds }, { next, rules: [], otherwise: next ?? frame.done }, frame);
}

/** The task says until when, nothing runs meanwhile, and the same function writes the entry afterwards. */
function untilStates(node: PlannedWait, frame: Frame): States {
  const { runNode } = frame.functions;
  const next = onward(node);
  const catchers = catchTo(afterFailure(node, frame), frame);
  const parameters = nodeParameters(node.id);
  const [begun, waited] = [pausedState(node.id), waitedState(node.id)];
  return {
    [node.id]: lambdaTask(runNode, { comment: node.comment, parameters, catchers }, begun),
    [begun]: { Type: "Wait", TimestampPath: "$.until", Next: waited },
    [waited]: lambdaTask(runNode, { parameters: { ...parameters, waited: true }, catchers }, next),
    ...settleStates(node, [], next ?? frame.done, frame),
  };
}
