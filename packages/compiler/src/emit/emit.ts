import type { State, StateMachine } from "../asl.ts";
import type { Plan, PlannedNode } from "../lower/plan.ts";
import { emitAction } from "./action.ts";
import { closedStates, closeStates } from "./close.ts";
import { emitDecision } from "./decision.ts";
import { emitEnd } from "./end.ts";
import { emitStart } from "./start.ts";
import type { FunctionArns } from "./task.ts";

/** The state machine of a plan: a node's state has the node's id, so that the console reads like the workflow. */
export function emit(plan: Plan, functions: FunctionArns): StateMachine {
  const states: Record<string, State> = {};
  for (const node of plan.nodes) Object.assign(states, emitNode(node, functions));
  // Every end node's task has a Catch to both.
  Object.assign(states, closeStates(functions), closedStates());
  return {
    Comment: plan.comment,
    StartAt: plan.startAt,
    ...(plan.timeoutSeconds !== undefined && { TimeoutSeconds: plan.timeoutSeconds }),
    States: states,
  };
}

export function emitNode(node: PlannedNode, functions: FunctionArns): Record<string, State> {
  switch (node.type) {
    case "start":
      return emitStart(node);
    case "action":
      return emitAction(node, functions);
    case "decision":
      return emitDecision(node, functions);
    case "end":
      return emitEnd(node, functions);
  }
}
