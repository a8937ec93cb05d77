import type { ChoiceRule, States, TaskState } from "../asl.ts";
import type {
  Failable,
  PlannedAction,
  PlannedApproval,
  PlannedDecision,
  PlannedTask,
  PlannedWait,
  PlannedWorkflow,
  Target,
} from "../lower.ts";
import { type Frame, stateAfter, stateOf, transitionTo } from "./frame.ts";
import {
  afterFailure,
  branchingOf,
  branchStates,
  catchTo,
  codeParameters,
  failureTarget,
  lambdaTask,
  nodeParameters,
  settledChoice,
  settleStates,
  settleTask,
  startExecutionFields,
  untimedRetriers,
} from "./task.ts";

/** Emits the task that waits for a person, and then a Choice that follows the answer in the chain. */
export function emitApproval(node: PlannedApproval, frame: Frame): States {
  const branching = branchingOf(node, frame);
  return {
    ...pendingStates(node, { next: stateOf(node.id, "branch"), ...branching }, frame),
    ...branchStates(node, branching),
  };
}

export function emitWait(node: PlannedWait, frame: Frame): States {
  const next = stateAfter(node);
  const { timeoutSeconds } = node;
  if (timeoutSeconds === undefined) return untilStates(node, frame);
  return pendingStates({ ...node, timeoutSeconds }, { next, rules: [], otherwise: next ?? frame.done }, frame);
}

/**
 * Emits a wait until a time: one task returns the time, a Wait state waits for it, and a second task writes the entry.
 */
function untilStates(node: PlannedWait, frame: Frame): States {
  const waited = stateOf(node.id, "waited");
  const pause = { [stateOf(node.id, "wait")]: { Type: "Wait", TimestampPath: "$.until", Next: waited } as const };
  return aroundStates(node, pause, waited, frame);
}

/**
 * Emits three tasks: one names the child execution, one lets Step Functions run the child and wait for its end, and one
 * reads its chain.
 */
export function emitWorkflowNode(node: PlannedWorkflow, frame: Frame): States {
  const done = stateOf(node.id, "done");
  return aroundStates(node, { [stateOf(node.id, "run")]: childTask(done) }, done, frame);
}

/**
 * Emits the states of a node in order: the task that starts the node, `middle`, the task `after` that ends the node,
 * and the settle.
 */
function aroundStates(node: PlannedWait | PlannedWorkflow, middle: States, after: string, frame: Frame): States {
  const { runNode } = frame.functions;
  const next = stateAfter(node);
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

/**
 * Emits the task that runs the child and waits for it. If Step Functions stops this run, it also stops the child. The
 * task has no timeout: only the child's own workflow limits its time.
 */
function childTask(done: string): TaskState {
  return {
    Type: "Task",
    ...startExecutionFields("$.child"),
    ResultPath: null,
    Catch: [{ ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: done }],
    Next: done,
  };
}

/** A node that waits for the answer of a person or an event. */
interface Pending extends Failable {
  id: string;
  comment?: string;
  timeoutSeconds: number;
}

/** The states that may follow a node after its answer is in the chain. */
interface Answered {
  next: Target;
  /**
   * The rules of the Choice after a settle. Each leads from one decision to the target of its edge; if no rule matches,
   * `otherwise` follows.
   */
  rules: readonly ChoiceRule[];
  otherwise: string;
}

/**
 * Emits a task that waits until NOVA returns its token. If the timeout of the task ends the wait, an answer that is
 * already in the chain still counts.
 */
function pendingStates(node: Pending, { next, rules, otherwise }: Answered, frame: Frame): States {
  const settled = stateOf(node.id, "settled");
  return {
    [node.id]: tokenTask(node, next, frame),
    [stateOf(node.id, "expired")]: settleTask({ ...nodeParameters(node.id), expired: true }, settled, frame),
    ...settleStates(node, rules, otherwise, frame),
    [settled]: settledChoice(failureTarget(node.onError, frame), rules, otherwise),
  };
}

function tokenTask(node: Pending, next: Target, frame: Frame): TaskState {
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
    ...transitionTo(next),
  };
}

export function emitAction(node: PlannedAction, frame: Frame): States {
  const next = stateAfter(node);
  const behind = next ?? frame.done;
  return { ...codeStates(node, next, behind, frame), ...settleStates(node, [], behind, frame) };
}

/**
 * Emits the task that decides, and then a Choice that follows the decision in the entry. A decision that matches no
 * edge fails the run.
 */
export function emitDecision(node: PlannedDecision, frame: Frame): States {
  const branching = branchingOf(node, frame);
  const branch = stateOf(node.id, "branch");
  return {
    ...codeStates(node, branch, branch, frame),
    ...branchStates(node, branching),
    ...settleStates(node, branching.rules, branching.otherwise, frame),
  };
}

/**
 * Emits the task of a node that runs code. If the code may outlive a Lambda, the state machine repeats the task, with
 * pauses, until the code ends.
 */
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
