import type { StateMachine, States } from "../asl.ts";
import type { Plan, PlannedFrame, PlannedNode } from "../lower/plan.ts";
import { emitAction, emitDecision } from "./code.ts";
import { beginStates, closeStates, continueStates, emitEnd, emitStart } from "./execution.ts";
import { type EmitFrame, emitFork } from "./fork.ts";
import { beginState, endsOf, type Frame, type FunctionArns, type InlineItems, mainFrame } from "./frame.ts";
import { emitMap } from "./map.ts";
import { emitApproval, emitWait, emitWorkflowNode } from "./pending.ts";

interface Emitting {
  functions: FunctionArns;
  inlineItems: InlineItems;
  /** True if its loops continue in further executions. */
  continues: boolean;
}

/**
 * Emits the state machine of a plan. A node's state has the node's id, so that the console shows the workflow's names.
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
      // Every end node's task has a Catch to the states of the close.
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
  approval: emitApproval,
  wait: emitWait,
  workflow: emitWorkflowNode,
  end: emitEnd,
};
