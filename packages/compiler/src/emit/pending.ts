import type { ChoiceRule, States, TaskState } from "../asl.ts";
import type { Failable, PlannedApproval, PlannedWait, PlannedWorkflow, Way } from "../lower/plan.ts";
import { type Frame, goOn, onward, stateOf } from "./frame.ts";
import {
  afterFailure,
  branchingOf,
  branchStates,
  failedWay,
  settledChoice,
  settleStates,
  settleTask,
} from "./settle.ts";
import { anotherRun, catchTo, lambdaTask, nodeParameters, untimedRetriers } from "./task.ts";

/** Waits for a person, then goes on by the choice that is in the chain. */
export function emitApproval(node: PlannedApproval, frame: Frame): States {
  const branching = branchingOf(node, frame);
  return {
    ...pendingStates(node, { next: stateOf(node.id, "branch"), ...branching }, frame),
    ...branchStates(node, branching),
  };
}

export function emitWait(node: PlannedWait, frame: Frame): States {
  const next = onward(node);
  const { timeoutSeconds } = node;
  if (timeoutSeconds === undefined) return untilStates(node, frame);
  return pendingStates({ ...node, timeoutSeconds }, { next, rules: [], otherwise: next ?? frame.done }, frame);
}

/** The task says until when, nothing runs meanwhile, and the same function writes the entry afterwards. */
function untilStates(node: PlannedWait, frame: Frame): States {
  const waited = stateOf(node.id, "waited");
  const pause = { [stateOf(node.id, "wait")]: { Type: "Wait", TimestampPath: "$.until", Next: waited } as const };
  return aroundStates(node, pause, waited, frame);
}

/** The task names the other execution, Step Functions waits for it, the second task reads its chain. */
export function emitWorkflowNode(node: PlannedWorkflow, frame: Frame): States {
  const done = stateOf(node.id, "done");
  return aroundStates(node, { [stateOf(node.id, "run")]: childRun(done) }, done, frame);
}

/** What begins a node, `middle` (one state, which leads to `after`), and under the name `after` what ends the node. */
function aroundStates(node: PlannedWait | PlannedWorkflow, middle: States, after: string, frame: Frame): States {
  const { runNode } = frame.functions;
  const next = onward(node);
  const catchers = catchTo(afterFailure(node, frame), frame);
  const parameters = nodeParameters(node.id);
  const [begun = ""] = Object.keys(middle);
  return {
    [node.id]: lambdaTask(runNode, { comment: node.comment, parameters, catchers }, begun),
    ...middle,
    [after]: lambdaTask(runNode, { parameters: { ...parameters, waited: true }, catchers }, next),
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

/** A node whose outcome comes from outside. */
interface Pending extends Failable {
  id: string;
  comment?: string;
  timeoutSeconds: number;
}

/** Where it goes on once the chain has the outcome. */
interface Answered {
  /** The state behind the task. */
  next: Way;
  /** The same where a settle found it: by its decision, or else on. */
  rules: readonly ChoiceRule[];
  otherwise: string;
}

/** A task that ends when its token comes back. At its timeout an answer in the chain still counts. */
function pendingStates(node: Pending, { next, rules, otherwise }: Answered, frame: Frame): States {
  const settled = stateOf(node.id, "settled");
  return {
    [node.id]: tokenTask(node, next, frame),
    [stateOf(node.id, "expired")]: settleTask({ ...nodeParameters(node.id), expired: true }, settled, frame),
    ...settleStates(node, rules, otherwise, frame),
    [settled]: settledChoice(failedWay(node.onError, frame), rules, otherwise),
  };
}

function tokenTask(node: Pending, next: Way, frame: Frame): TaskState {
  const expiry = { ErrorEquals: ["States.Timeout"], ResultPath: "$.error", Next: stateOf(node.id, "expired") };
  return {
    Type: "Task",
    ...(node.comment !== undefined && { Comment: node.comment }),
    Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
    Parameters: {
      FunctionName: frame.functions.requestApproval,
      Payload: { ...nodeParameters(node.id), "token.$": "$$.Task.Token" },
    },
    TimeoutSeconds: node.timeoutSeconds,
    Retry: untimedRetriers,
    Catch: catchTo(afterFailure(node, frame), frame).toSpliced(1, 0, expiry),
    ...goOn(next),
  };
}
