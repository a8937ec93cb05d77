import type { ChoiceRule, States } from "../asl.ts";
import { loopTargets, type PlannedEnd, type PlannedFrame, type PlannedStart } from "../lower/plan.ts";
import {
  beginState,
  closedEnd,
  closedState,
  closeState,
  continueState,
  type Frame,
  type FunctionArns,
  failedState,
  stateAfter,
  transitionTo,
} from "./frame.ts";
import { catchTo, lambdaTask, nodeParameters, startExecutionFields } from "./task.ts";

/** Runs no task: link 0 was written before the execution started. */
export function emitStart(node: PlannedStart): States {
  const comment = node.comment === undefined ? {} : { Comment: node.comment };
  return { [node.id]: { Type: "Pass", ...comment, ...transitionTo(stateAfter(node)) } };
}

/** Writes the end node's entry and closes the run. The answer of the Lambda is the execution's output. */
export function emitEnd(node: PlannedEnd, frame: Frame): States {
  const catchers = catchTo(frame.unsettled, frame);
  const details = { comment: node.comment, parameters: nodeParameters(node.id), catchers };
  const { OutputPath: _, ...task } = lambdaTask(frame.functions.runNode, details, null);
  return { [node.id]: task };
}

/**
 * Closes a failed run, then fails. It has no Parameters: the Lambda gets the whole state, because `$.error` exists
 * after a Catch but not after a Choice without a match. Fails with the error in the Lambda's answer.
 */
export function closeStates(functions: FunctionArns): States {
  return {
    [closeState]: lambdaTask(functions.closeExecution, {}, failedState),
    [failedState]: { Type: "Fail", ErrorPath: "$.error.Error", CausePath: "$.error.Cause" },
    [closedState]: closedEnd,
  };
}

/** A further execution starts at the state to which its predecessor would have gone back. */
export function beginStates(main: PlannedFrame): States {
  const [first, ...others] = loopTargets(main).map(resumeAt);
  if (!first) return {};
  return { [beginState]: { Type: "Choice", Choices: [first, ...others], Default: main.entry } };
}

/** The input of the first execution has no `resume`, and a comparison of a missing field would end it. */
function resumeAt(target: string): ChoiceRule {
  const isThere = { Variable: "$.resume", IsPresent: true } as const;
  return { And: [isThere, { Variable: "$.resume", StringEquals: target }], Next: target };
}

/**
 * Runs the same state machine again, with an empty history. This execution only waits for the other one, and ends with
 * the same status. The close then reads the chain, and asks Step Functions if that execution ended without a close.
 */
export function continueStates(): States {
  return {
    [continueState]: {
      Type: "Task",
      Comment: "The history is nearly full: the loop continues in a further execution.",
      ...startExecutionFields("$.continuation"),
      Catch: [{ ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: closeState }],
      End: true,
      OutputPath: "$.Output",
    },
  };
}
