import type { State } from "../asl.ts";
import type { PlannedEnd } from "../lower/plan.ts";
import { closeState } from "./names.ts";
import { catchTo, type FunctionArns, lambdaTask, nodeParameters } from "./task.ts";

/** Writes the end node's entry and closes the run; what it answers is the execution's output. */
export function emitEnd(node: PlannedEnd, functions: FunctionArns): Record<string, State> {
  const task = lambdaTask(
    functions.runNode,
    { comment: node.comment, parameters: nodeParameters(node.id), catchers: catchTo(closeState) },
    { End: true },
  );
  return { [node.id]: task };
}
