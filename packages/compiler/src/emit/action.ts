import type { States } from "../asl.ts";
import type { PlannedAction } from "../lower/plan.ts";
import type { Frame } from "./frame.ts";
import { behindTask, runningStates } from "./long.ts";
import { onward } from "./onward.ts";
import { afterFailure, settleStates } from "./settle.ts";
import { catchTo, codeParameters, lambdaTask } from "./task.ts";

export function emitAction(node: PlannedAction, frame: Frame): States {
  const next = onward(node);
  const task = lambdaTask(
    frame.functions.runNode,
    {
      comment: node.comment,
      parameters: codeParameters(node.id),
      catchers: catchTo(afterFailure(node, frame), frame),
      retry: node.retry,
    },
    behindTask(node, next),
  );
  return {
    [node.id]: task,
    ...runningStates(node, next ?? frame.done),
    ...settleStates(node, [], next ?? frame.done, frame),
  };
}
