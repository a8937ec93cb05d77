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

/** Everything there is to say about a source; without an error among the findings also what it compiles to. */
export type Compiled =
  | ({ findings: Finding[]; workflow: Workflow; definition: string } & Machine)
  | { findings: Finding[]; workflow?: never; stateMachine?: never; definition?: never; history?: never };

/** Parse, check, lower, emit. `definition` is the state machine's text, as Step Functions gets it. */
export function compileWorkflow(source: WorkflowSource, options: EmitOptions = {}): Promise<Compiled> {
  return compileParsed(parseWorkflow(source), options);
}

/** Check, lower, emit: the stages behind the parser, for whoever has something to do between them. */
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
