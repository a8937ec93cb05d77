import type { HistoryBudget, Workflow } from "@nova/workflow";
import type { StateMachine } from "./asl.ts";
import { emit } from "./emit/emit.ts";
import type { FunctionArns } from "./emit/frame.ts";
import { historyBudget, needsContinuation } from "./events/history-budget.ts";
import { inlineItems } from "./events/inline-items.ts";
import { lower } from "./lower/lower.ts";
import { loopTargets } from "./lower/plan.ts";

/** The functions with the names and the alias that every stage of NOVA deploys, in the laptop's account. */
export const localFunctions: FunctionArns = {
  runNode: localArn("nova-run-node"),
  settleNode: localArn("nova-settle-node"),
  closeExecution: localArn("nova-close-execution"),
  requestApproval: localArn("nova-request-approval"),
};

export interface EmitOptions {
  functions?: FunctionArns;
  /** Items that every map may run inline; absent: as many as the history of an execution allows. */
  inlineItems?: number;
  /** Loops continue in a further execution above this number of events; absent: only if they must. */
  historyEvents?: number;
}

/** The output of the compiler for one workflow. */
export interface Machine {
  stateMachine: StateMachine;
  /** Present if its loops continue in further executions: the budget by which a run counts its events. */
  history?: HistoryBudget;
}

/** Lowers and emits a checked workflow into a state machine as plain data. */
export function toMachine(workflow: Workflow, options: EmitOptions = {}): Machine {
  const plan = lower(workflow);
  const maxInline = (map: string) => options.inlineItems ?? inlineItems(plan, map);
  const isContinued = options.historyEvents === undefined ? needsContinuation(plan) : loopTargets(plan.main).length > 0;
  const emitting = { functions: options.functions ?? localFunctions, inlineItems: maxInline, continues: isContinued };
  const history = isContinued && historyBudget(plan, ({ id }) => maxInline(id), options.historyEvents);
  return { stateMachine: emit(plan, emitting), ...(history && { history }) };
}

export function toStateMachine(workflow: Workflow, options: EmitOptions = {}): StateMachine {
  return toMachine(workflow, options).stateMachine;
}

function localArn(name: string): string {
  return `arn:aws:lambda:us-east-1:000000000000:function:${name}:live`;
}
