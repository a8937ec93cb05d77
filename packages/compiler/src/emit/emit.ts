import { defined } from "@nova/workflow";
import type { ChoiceRule, StateMachine, States } from "../asl.ts";
import {
  loopTargets,
  type Plan,
  type PlannedEnd,
  type PlannedFrame,
  type PlannedNode,
  type PlannedStart,
} from "../lower.ts";
import { type EmitFrame, emitAgent, emitFork, emitMap } from "./fork.ts";
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
  transitionTo,
} from "./frame.ts";
import {
  catchTo,
  emitAction,
  emitApproval,
  emitDecision,
  emitWait,
  emitWorkflowNode,
  lambdaTask,
  nodeParameters,
  startExecutionFields,
} from "./nodes.ts";

interface Emitting {
  functions: FunctionArns;
  inlineItems: InlineItems;
  /** True if loops of the main line continue in further executions. */
  continues: boolean;
}

/**
 * Emits the state machine of a workflow with resolved edges. The name of a node's state is the node's id, so that the
 * console of AWS shows the id.
 */
export function emit(plan: Plan, { functions, inlineItems, continues }: Emitting): StateMachine {
  return {
    Comment: plan.comment,
    StartAt: continues ? beginState : plan.main.entry,
    ...defined({ TimeoutSeconds: plan.timeoutSeconds }),
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

/** Emits a Pass state for the start node, because NOVA writes the entry of this node before the execution starts. */
function emitStart(node: PlannedStart): States {
  return { [node.id]: { Type: "Pass", ...defined({ Comment: node.comment }), ...transitionTo(stateAfter(node)) } };
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
 * Parameters, so its Lambda gets the whole input. The input has `$.error` after a Catch, but not after a Choice that
 * matches no rule.
 */
function closeStates(functions: FunctionArns): States {
  return {
    [closeState]: lambdaTask(functions.closeExecution, {}, failedState),
    [failedState]: { Type: "Fail", ErrorPath: "$.error.Error", CausePath: "$.error.Cause" },
    [closedState]: closedEnd,
  };
}

/**
 * Emits the first state of the machine. A further execution starts at the node to which the loop of the preceding
 * execution leads back.
 */
function beginStates(main: PlannedFrame): States {
  const [first, ...others] = loopTargets(main).map(resumeAt);
  if (!first) return {};
  return { [beginState]: { Type: "Choice", Choices: [first, ...others], Default: main.entry } };
}

/**
 * Returns the rule that leads to `target` if `resume` names it. The rule first tests that `resume` is present. The
 * input of the first execution lacks `resume`, and the comparison of a missing field would fail the execution.
 */
function resumeAt(target: string): ChoiceRule {
  const isThere = { Variable: "$.resume", IsPresent: true } as const;
  return { And: [isThere, { Variable: "$.resume", StringEquals: target }], Next: target };
}

/**
 * Emits the task that runs the same state machine again, with an empty history. This execution only waits for the
 * further execution, and ends with the same status. If the further execution fails, the state that closes the run
 * follows, because the further execution may have ended without closing the run.
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
