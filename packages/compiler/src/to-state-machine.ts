import type { Workflow } from "@nova/workflow";
import type { StateMachine } from "./asl.ts";
import { emit } from "./emit/emit.ts";
import type { FunctionArns } from "./emit/functions.ts";
import { inlineItems } from "./events/inline-items.ts";
import { lower } from "./lower/lower.ts";

/** The functions under the names and the alias that every stage of NOVA deploys them with, in the account of the laptop. */
export const localFunctions: FunctionArns = {
  runNode: localArn("nova-run-node"),
  settleNode: localArn("nova-settle-node"),
  closeExecution: localArn("nova-close-execution"),
  requestApproval: localArn("nova-request-approval"),
};

interface EmitOptions {
  functions?: FunctionArns;
  /** Items that every map may have inline; absent: as many as the history of an execution leaves room for. */
  inlineItems?: number;
}

/** Lower and emit: a checked workflow in, its state machine as plain data out. */
export function toStateMachine(workflow: Workflow, options: EmitOptions = {}): StateMachine {
  const plan = lower(workflow);
  const most = (map: string) => options.inlineItems ?? inlineItems(plan, map);
  return emit(plan, options.functions ?? localFunctions, most);
}

function localArn(name: string): string {
  return `arn:aws:lambda:us-east-1:000000000000:function:${name}:live`;
}
