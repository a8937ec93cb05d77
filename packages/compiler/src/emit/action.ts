import type { State } from "../asl.ts";
import type { PlannedAction } from "../lower/plan.ts";
import { afterFailure, settleStates } from "./settle.ts";
import { catchTo, type FunctionArns, lambdaTask, nodeParameters } from "./task.ts";

export function emitAction(node: PlannedAction, functions: FunctionArns): Record<string, State> {
  const task = lambdaTask(
    functions.runNode,
    { comment: node.comment, parameters: nodeParameters(node.id), catchers: catchTo(afterFailure(node)) },
    { Next: node.next },
  );
  return { [node.id]: task, ...settleStates(node, [], node.next, functions) };
}
