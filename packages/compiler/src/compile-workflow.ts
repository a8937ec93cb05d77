import {
  type Finding,
  type HistoryBudget,
  nodeIndex,
  type ParsedWorkflow,
  parseWorkflow,
  type Workflow,
  type WorkflowSource,
} from "@nova/workflow";
import type { StateMachine } from "./asl.ts";
import { checkEvents, checkImports, checkKnownKeys, checkSize, checkSources } from "./check.ts";
import { emit } from "./emit/emit.ts";
import type { FunctionArns } from "./emit/frame.ts";
import { historyBudget, inlineItems, needsContinuation } from "./events/history-budget.ts";
import { loopTargets, lower } from "./lower.ts";

/** All findings of a source, and the compiled workflow if no finding is an error. */
export type Compiled =
  | ({ findings: Finding[]; workflow: Workflow; definition: string } & Machine)
  | { findings: Finding[]; workflow?: never; stateMachine?: never; definition?: never; history?: never };

/** Parses, checks and compiles a source. `definition` is the text of the state machine for Step Functions. */
export function compileWorkflow(source: WorkflowSource, options: EmitOptions = {}): Promise<Compiled> {
  return compileParsed(parseWorkflow(source), options);
}

/** Compiles a workflow that the caller has already parsed. */
export async function compileParsed(parsed: ParsedWorkflow, options: EmitOptions = {}): Promise<Compiled> {
  const { workflow, python } = parsed;
  const findings = [...parsed.findings, ...(await checkSources(python))];
  if (!workflow || hasErrors(findings)) return { findings };
  findings.push(...checkImports(workflow, python), ...checkKnownKeys(parsed));
  const machine = toMachine(workflow, options);
  const definition = JSON.stringify(machine.stateMachine);
  findings.push(...checkSize(definition, nodeIndex(workflow).size), ...checkEvents(workflow));
  return hasErrors(findings) ? { findings } : { findings, workflow, definition, ...machine };
}

function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some((one) => one.severity === "error");
}

/**
 * ARNs of NOVA's functions in the account of the local cloud on a laptop. The functions have the same names and the
 * same alias as in every deployment.
 */
export const localFunctions: FunctionArns = {
  runNode: localArn("nova-run-node"),
  settleNode: localArn("nova-settle-node"),
  closeExecution: localArn("nova-close-execution"),
  requestApproval: localArn("nova-request-approval"),
};

export interface EmitOptions {
  functions?: FunctionArns;
  /** The largest number of items that a map may run inline. Absent: as many as the history of an execution allows. */
  inlineItems?: number;
  /**
   * The number of events after which every loop continues in a further execution. Absent: the compiler computes the
   * number, and loops continue in further executions only if one history may be too short.
   */
  historyEvents?: number;
}

/** The output of the compiler for one workflow. */
interface Machine {
  stateMachine: StateMachine;
  /**
   * The budget with which a run counts its events. Present if the loops of the workflow continue in further executions.
   */
  history?: HistoryBudget;
}

/** Compiles a checked workflow into a state machine, as plain data. */
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
