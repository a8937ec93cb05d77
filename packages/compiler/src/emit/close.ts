import type { State } from "../asl.ts";
import { closedState, closeState, failedState } from "./names.ts";
import { type FunctionArns, lambdaTask } from "./task.ts";

/**
 * Closes a run that failed, then fails. There are no Parameters: the Lambda gets the whole state, because `$.error`
 * is there after a Catch and missing after a Choice that nothing fits. Takes the error to show from its answer.
 */
export function closeStates(functions: FunctionArns): Record<string, State> {
  return {
    [closeState]: lambdaTask(functions.closeExecution, {}, { Next: failedState }),
    [failedState]: { Type: "Fail", ErrorPath: "$.error.Error", CausePath: "$.error.Cause" },
  };
}

/** Where a task goes that found its run closed by somebody else; the close entry says why. */
export function closedStates(): Record<string, State> {
  return {
    [closedState]: {
      Type: "Fail",
      Error: "ExecutionClosed",
      Cause: "The execution was closed while this node was under way; its chain of work says why.",
    },
  };
}
