import type { ChoiceRule, StateMachine, States, TaskState } from "../asl.ts";
import {
  type Failable,
  loopTargets,
  type Plan,
  type PlannedAction,
  type PlannedApproval,
  type PlannedDecision,
  type PlannedEnd,
  type PlannedFrame,
  type PlannedNode,
  type PlannedStart,
  type PlannedTask,
  type PlannedWait,
  type PlannedWorkflow,
  type Target,
} from "../lower.ts";
import { emitAgent } from "./agent.ts";
import { type EmitFrame, emitFork, emitMap } from "./fork.ts";
import {
  beginState,
  closedEnd,
  closedState,
  closeState,
  continueState,
  endsOf,
  type Frame,
  type FunctionArns,
  failedState,
  type InlineItems,
  mainFrame,
  stateAfter,
  stateOf,
  transitionTo,
} from "./frame.ts";
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

interface Emitting {
  functions: FunctionArns;
  inlineItems: InlineItems;
  /** True if loops of the main line continue in further executions. */
  continues: boolean;
}

/**
 * Emits the state machine of a workflow with resolved edges. The state of a node is named by the node's id, so that the
 * console of AWS shows the id.
 */
export function emit(plan: Plan, { functions, inlineItems, continues }: Emitting): StateMachine {
  return {
    Comment: plan.comment,
    StartAt: continues ? beginState : plan.main.entry,
    ...(plan.timeoutSeconds !== undefined && { TimeoutSeconds: plan.timeoutSeconds }),
    States: {
      ...(continues && beginStates(plan.main)),
      ...nodeStates(plan.main, mainFrame(functions, inlineItems, continues)),
      ...(continues && continueStates()),
      ...closeStates(functions),
    },
  };
}

function frameStates(planned: PlannedFrame, frame: Frame): States {
  const states = nodeStates(planned, frame);
  return Object.assign(states, endsOf(frame, states));
}

function nodeStates(planned: PlannedFrame, frame: Frame): States {
  const states: States = {};
  for (const node of planned.nodes) {
    Object.assign(states, (emitters[node.type] as Emit<string>)(node as never, frame, frameStates));
    if ("fork" in node && node.fork) Object.assign(states, emitFork(node.fork, node.next, frame, frameStates));
  }
  return states;
}

type Emit<T> = (node: Extract<PlannedNode, { type: T }>, frame: Frame, emitFrame: EmitFrame) => States;

const emitters: { [T in PlannedNode["type"]]: Emit<T> } = {
  start: emitStart,
  action: emitAction,
  decision: emitDecision,
  map: emitMap,
  agent: emitAgent,
  approval: emitApproval,
  wait: emitWait,
  workflow: emitWorkflowNode,
  end: emitEnd,
};

/** Emits a Pass state, because the entry of the start node was written before the execution started. */
function emitStart(node: PlannedStart): States {
  const comment = node.comment === undefined ? {} : { Comment: node.comment };
  return { [node.id]: { Type: "Pass", ...comment, ...transitionTo(stateAfter(node)) } };
}

/**
 * Emits the task that writes the end node's entry and closes the run. The answer of its Lambda is the execution's
 * output.
 */
function emitEnd(node: PlannedEnd, frame: Frame): States {
  const catchers = catchTo(frame.unsettled, frame);
  const details = { comment: node.comment, parameters: nodeParameters(node.id), catchers };
  const { OutputPath: _, ...task } = lambdaTask(frame.functions.runNode, details, null);
  return { [node.id]: task };
}

/**
 * Emits the task that closes a failed run, and then a Fail state with the error that the task returns. The task has no
 * Parameters, so its Lambda gets the whole input: `$.error` exists after a Catch, but not after a Choice without a
 * match.
 */
function closeStates(functions: FunctionArns): States {
  return {
    [closeState]: lambdaTask(functions.closeExecution, {}, failedState),
    [failedState]: { Type: "Fail", ErrorPath: "$.error.Error", CausePath: "$.error.Cause" },
    [closedState]: closedEnd,
  };
}

/**
 * Emits the first state of the machine. A further execution starts at the node to which a loop of the execution before
 * it leads back.
 */
function beginStates(main: PlannedFrame): States {
  const [first, ...others] = loopTargets(main).map(resumeAt);
  if (!first) return {};
  return { [beginState]: { Type: "Choice", Choices: [first, ...others], Default: main.entry } };
}

/**
 * Tests first that `resume` is present: the input of the first execution lacks it, and comparing a missing field would
 * fail the execution.
 */
function resumeAt(target: string): ChoiceRule {
  const isThere = { Variable: "$.resume", IsPresent: true } as const;
  return { And: [isThere, { Variable: "$.resume", StringEquals: target }], Next: target };
}

/**
 * Emits the task that runs the same state machine again, with an empty history. This execution only waits for the
 * further one, and ends with the same status. If the further execution fails, the state that closes the run follows:
 * the further execution may have ended without closing it.
 */
function continueStates(): States {
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

/** Emits the task that waits for a person, and then a Choice that follows the answer in the chain. */
function emitApproval(node: PlannedApproval, frame: Frame): States {
  const branching = branchingOf(node, frame);
  return {
    ...pendingStates(node, { next: stateOf(node.id, "branch"), ...branching }, frame),
    ...branchStates(node, branching),
  };
}

function emitWait(node: PlannedWait, frame: Frame): States {
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
 * Emits three tasks: one names the child execution, one lets Step Functions run and await it, and one reads its chain.
 */
function emitWorkflowNode(node: PlannedWorkflow, frame: Frame): States {
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
 * Emits the task that runs the child and waits for it. StopExecution of this run also stops the child. The task has no
 * timeout: only the child's own workflow limits its time.
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
 * Emits a task that waits until its token is returned. After its timeout, an answer that is already in the chain still
 * counts.
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

function emitAction(node: PlannedAction, frame: Frame): States {
  const next = stateAfter(node);
  const behind = next ?? frame.done;
  return { ...codeStates(node, next, behind, frame), ...settleStates(node, [], behind, frame) };
}

/**
 * Emits the task that decides, and then a Choice that follows the decision in the entry. A decision that matches no
 * edge fails the run.
 */
function emitDecision(node: PlannedDecision, frame: Frame): States {
  const branching = branchingOf(node, frame);
  const branch = stateOf(node.id, "branch");
  return {
    ...codeStates(node, branch, branch, frame),
    ...branchStates(node, branching),
    ...settleStates(node, branching.rules, branching.otherwise, frame),
  };
}

/**
 * Emits the task of a node that runs code. If the code may outlive a Lambda, the task is repeated with pauses until the
 * code ends.
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
