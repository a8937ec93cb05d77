import type { States } from "../asl.ts";
import type { Failable, PlannedAction, PlannedDecision, PlannedTask, Target } from "../lower/plan.ts";
import { type Frame, stateAfter, stateOf } from "./frame.ts";
import { afterFailure, branchingOf, branchStates, settleStates } from "./settle.ts";
import { catchTo, codeParameters, lambdaTask } from "./task.ts";

export function emitAction(node: PlannedAction, frame: Frame): States {
  const next = stateAfter(node);
  const behind = next ?? frame.done;
  return { ...codeStates(node, next, behind, frame), ...settleStates(node, [], behind, frame) };
}

/** Emits the task that decides, then a Choice over the committed decision. A decision without an edge is a failure. */
export function emitDecision(node: PlannedDecision, frame: Frame): States {
  const branching = branchingOf(node, frame);
  const branch = stateOf(node.id, "branch");
  return {
    ...codeStates(node, branch, branch, frame),
    ...branchStates(node, branching),
    ...settleStates(node, branching.rules, branching.otherwise, frame),
  };
}

/** Emits the task of a node. Code that outlives a Lambda is checked repeatedly, with pauses. */
function codeStates(node: PlannedTask & Failable, next: Target, behind: string, frame: Frame): States {
  const { id, comment, retry, looks } = node;
  const [running, pause] = [stateOf(id, "running"), stateOf(id, "pause")];
  const catchers = catchTo(afterFailure(node, frame), frame);
  const details = { comment, parameters: codeParameters(id), catchers, retry };
  const task = lambdaTask(frame.functions.runNode, details, looks === undefined ? next : running);
  if (looks === undefined) return { [id]: task };
  return {
    [id]: task,
    [running]: { Type: "Choice", Choices: [{ Variable: "$.running", IsPresent: true, Next: pause }], Default: behind },
    [pause]: { Type: "Wait", SecondsPath: "$.pause", Next: id },
  };
}
