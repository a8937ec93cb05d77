import {
  type Finding,
  nodeIndex,
  type ParsedWorkflow,
  parseWorkflow,
  type Workflow,
  type WorkflowSource,
} from "@nova/workflow";
import { checkEvents, checkSize } from "./check/limits.ts";
import { checkImports, checkKnownKeys, checkSources } from "./check/python.ts";
import { type EmitOptions, type Machine, toMachine } from "./to-state-machine.ts";

/** All findings of a source and, without an error among them, the compiled workflow. */
export type Compiled =
  | ({ findings: Finding[]; workflow: Workflow; definition: string } & Machine)
  | { findings: Finding[]; workflow?: never; stateMachine?: never; definition?: never; history?: never };

/** Parses, checks, lowers and emits. `definition` is the state machine's text for Step Functions. */
export function compileWorkflow(source: WorkflowSource, options: EmitOptions = {}): Promise<Compiled> {
  return compileParsed(parseWorkflow(source), options);
}

/** Checks, lowers and emits a parsed workflow, for callers that act after the parser. */
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
