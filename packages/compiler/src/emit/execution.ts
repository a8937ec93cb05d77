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
  goOn,
  onward,
} from "./frame.ts";
import { anotherRun, catchTo, lambdaTask, nodeParameters } from "./task.ts";

/** Nothing runs here: link 0 was written before the execution started. */
export function emitStart(node: PlannedStart): States {
  const comment = node.comment === undefined ? {} : { Comment: node.comment };
  return { [node.id]: { Type: "Pass", ...comment, ...goOn(onward(node)) } };
}

/** Writes the end node's entry and closes the run; what it answers is the execution's output. */
export function emitEnd(node: PlannedEnd, frame: Frame): States {
  const catchers = catchTo(frame.unsettled, frame);
  const details = { comment: node.comment, parameters: nodeParameters(node.id), catchers };
  const { OutputPath: _, ...task } = lambdaTask(frame.functions.runNode, details, null);
  return { [node.id]: task };
}

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

/** A further execution begins where the one before it would have gone back to. */
export function beginStates(main: PlannedFrame): States {
  const [first, ...others] = loopTargets(main).map(resumeAt);
  if (!first) return {};
  return { [beginState]: { Type: "Choice", Choices: [first, ...others], Default: main.entry } };
}

/** In the input of the first execution there is no `resume`; a comparison of what is missing would end it. */
function resumeAt(target: string): ChoiceRule {
  const isThere = { Variable: "$.resume", IsPresent: true } as const;
  return { And: [isThere, { Variable: "$.resume", StringEquals: target }], Next: target };
}

/**
 * The same state machine once more, with an empty history: this execution only waits for that one, and ends as it ends.
 * The close asks the chain, and of one that ended without closing it Step Functions.
 */
export function continueStates(): States {
  return {
    [continueState]: {
      Type: "Task",
      Comment: "The history is nearly full: the loop goes on in a further execution.",
      ...anotherRun("$.continuation"),
      Catch: [{ ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: closeState }],
      End: true,
      OutputPath: "$.Output",
    },
  };
}
