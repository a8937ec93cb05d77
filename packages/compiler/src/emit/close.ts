import type { States } from "../asl.ts";
import { closedEnd } from "./frame.ts";
import type { FunctionArns } from "./functions.ts";
import { closedState, closeState, failedState } from "./names.ts";
import { lambdaTask } from "./task.ts";

/**
 * Closes a run that failed, then fails. There are no Parameters: the Lambda gets the whole state, because `$.error`
 * is there after a Catch and missing after a Choice that nothing fits. Takes the error to show from its answer.
 */
export function closeStates(functions: FunctionArns): States {
  return {
    [closeState]: lambdaTask(functions.closeExecution, {}, failedState),
    [failedState]: { Type: "Fail", ErrorPath: "$.error.Error", CausePath: "$.error.Cause" },
    [closedState]: closedEnd,
  };
}
