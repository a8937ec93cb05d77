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

/** Waits for a person, then continues by the choice in the chain. */
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

/** The first task returns the end of the wait. After it, the same function writes the entry. */
function untilStates(node: PlannedWait, frame: Frame): States {
  const waited = stateOf(node.id, "waited");
  const pause = { [stateOf(node.id, "wait")]: { Type: "Wait", TimestampPath: "$.until", Next: waited } as const };
  return aroundStates(node, pause, waited, frame);
}

/** The first task names the other execution, Step Functions waits for it, and the second task reads its chain. */
export function emitWorkflowNode(node: PlannedWorkflow, frame: Frame): States {
  const done = stateOf(node.id, "done");
  return aroundStates(node, { [stateOf(node.id, "run")]: childTask(done) }, done, frame);
}

/** Emits the task that starts the node, `middle` (one state, which leads to `after`), and the task that ends it. */
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

/** StopExecution of this run also stops the child. Only the child's own workflow limits its time. */
function childTask(done: string): TaskState {
  return {
    Type: "Task",
    ...startExecutionFields("$.child"),
    ResultPath: null,
    Catch: [{ ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: done }],
    Next: done,
  };
}

/** A node that gets its outcome from outside. */
interface Pending extends Failable {
  id: string;
  comment?: string;
  timeoutSeconds: number;
}

/** The targets after the chain has the outcome. */
interface Answered {
  next: Target;
  /** The targets after a settle: by its decision, or else `otherwise`. */
  rules: readonly ChoiceRule[];
  otherwise: string;
}

/** Emits a task that ends when its token comes back. At its timeout an answer in the chain still counts. */
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
