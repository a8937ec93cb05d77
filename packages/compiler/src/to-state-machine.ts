import type { HistoryBudget, Workflow } from "@nova/workflow";
import type { StateMachine } from "./asl.ts";
import { emit } from "./emit/emit.ts";
import type { FunctionArns } from "./emit/frame.ts";
import { continues, historyBudget } from "./events/history-budget.ts";
import { inlineItems } from "./events/inline-items.ts";
import { lower } from "./lower/lower.ts";
import { loopTargets } from "./lower/plan.ts";

/** The functions under the names and the alias that every stage of NOVA deploys them with, in the account of the laptop. */
export const localFunctions: FunctionArns = {
  runNode: localArn("nova-run-node"),
  settleNode: localArn("nova-settle-node"),
  closeExecution: localArn("nova-close-execution"),
  requestApproval: localArn("nova-request-approval"),
};

export interface EmitOptions {
  functions?: FunctionArns;
  /** Items that every map may have inline; absent: as many as the history of an execution leaves room for. */
  inlineItems?: number;
  /** Events above which loops go on in a further execution, however short they are; absent: where they must. */
  historyEvents?: number;
}

/** What a workflow compiles to. */
export interface Machine {
  stateMachine: StateMachine;
  /** Where its loops go on in further executions: by what a run counts how full a history is. */
  history?: HistoryBudget;
}

/** Lower and emit: a checked workflow in, its state machine as plain data out. */
export function toMachine(workflow: Workflow, options: EmitOptions = {}): Machine {
  const plan = lower(workflow);
  const maxInline = (map: string) => options.inlineItems ?? inlineItems(plan, map);
  const isContinued = options.historyEvents === undefined ? continues(plan) : loopTargets(plan.main).length > 0;
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
