import type { States, TaskState } from "../asl.ts";
import type { PlannedWorkflow } from "../lower/plan.ts";
import type { Frame } from "./frame.ts";
import { onward } from "./frame.ts";
import { doneState, runState } from "./names.ts";
import { afterFailure, settleStates } from "./settle.ts";
import { anotherRun, catchTo, lambdaTask, nodeParameters } from "./task.ts";

/**
 * A task makes the other workflow's execution and says which it is, Step Functions runs that and waits for its end, and
 * the same function reads from its chain what it came to, however the middle state ended.
 */
export function emitWorkflowNode(node: PlannedWorkflow, frame: Frame): States {
  const { runNode } = frame.functions;
  const next = onward(node);
  const catchers = catchTo(afterFailure(node, frame), frame);
  const parameters = nodeParameters(node.id);
  const [running, done] = [runState(node.id), doneState(node.id)];
  return {
    [node.id]: lambdaTask(runNode, { comment: node.comment, parameters, catchers }, running),
    [running]: childRun(done),
    [done]: lambdaTask(runNode, { parameters: { ...parameters, waited: true }, catchers }, next),
    ...settleStates(node, [], next ?? frame.done, frame),
  };
}

/** StopExecution of this run stops that one too. It has no limit of time but its own workflow's. */
function childRun(done: string): TaskState {
  return {
    Type: "Task",
    ...anotherRun("$.child"),
    ResultPath: null,
    Catch: [{ ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: done }],
    Next: done,
  };
}
