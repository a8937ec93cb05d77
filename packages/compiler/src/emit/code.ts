import type { States } from "../asl.ts";
import type { PlannedAction, PlannedDecision, PlannedTask } from "../lower/plan.ts";
import { branchingOf, branchStates } from "./branches.ts";
import { type Frame, onward } from "./frame.ts";
import { branchState, pauseState, runningState } from "./names.ts";
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

/** The task that decides, then a Choice over the committed decision; what no edge fits is a failure. */
export function emitDecision(node: PlannedDecision, frame: Frame): States {
  const task = lambdaTask(
    frame.functions.runNode,
    {
      comment: node.comment,
      parameters: codeParameters(node.id),
      catchers: catchTo(afterFailure(node, frame), frame),
      retry: node.retry,
    },
    behindTask(node, branchState(node.id)),
  );
  const branching = branchingOf(node, frame);
  return {
    [node.id]: task,
    ...runningStates(node, branchState(node.id)),
    ...branchStates(node, branching),
    ...settleStates(node, branching.rules, branching.otherwise, frame),
  };
}

/**
 * What is between the task of a node and `next`. Code that outlives a Lambda is not waited for: its task begins it or
 * looks after it, and as long as it runs answers after what pause it wants to look again.
 */
function runningStates({ id, looks }: PlannedTask, next: string): States {
  if (looks === undefined) return {};
  const [running, pause] = [runningState(id), pauseState(id)];
  return {
    [running]: { Type: "Choice", Choices: [{ Variable: "$.running", IsPresent: true, Next: pause }], Default: next },
    [pause]: { Type: "Wait", SecondsPath: "$.pause", Next: id },
  };
}

/** The state behind the task of a node. */
function behindTask<Next extends string | null>({ id, looks }: PlannedTask, next: Next): Next | string {
  return looks === undefined ? next : runningState(id);
}
