import type { States } from "../asl.ts";
import type { PlannedEnd } from "../lower/plan.ts";
import type { Frame } from "./frame.ts";
import { catchTo, lambdaTask, nodeParameters } from "./task.ts";

/** Writes the end node's entry and closes the run; what it answers is the execution's output. */
export function emitEnd(node: PlannedEnd, frame: Frame): States {
  const { OutputPath: _, ...task } = lambdaTask(
    frame.functions.runNode,
    { comment: node.comment, parameters: nodeParameters(node.id), catchers: catchTo(frame.unsettled, frame) },
    null,
  );
  return { [node.id]: task };
}
