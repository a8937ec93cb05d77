import {
  type Finding,
  nodeIndex,
  type ParsedWorkflow,
  parseWorkflow,
  type Workflow,
  type WorkflowSource,
} from "@nova/workflow";
import type { StateMachine } from "./asl.ts";
import { checkEvents } from "./check/events.ts";
import { checkSources } from "./check/python.ts";
import { checkSize } from "./check/size.ts";
import type { FunctionArns } from "./emit/functions.ts";
import { toStateMachine } from "./to-state-machine.ts";

/** Everything there is to say about a source; without an error among the findings also what it compiles to. */
export type Compiled =
  | { findings: Finding[]; workflow: Workflow; stateMachine: StateMachine; definition: string }
  | { findings: Finding[]; workflow?: never; stateMachine?: never; definition?: never };

interface CompileOptions {
  functions?: FunctionArns;
}

/** Parse, check, lower, emit. `definition` is the state machine's text, as Step Functions gets it. */
export function compileWorkflow(source: WorkflowSource, options: CompileOptions = {}): Promise<Compiled> {
  return compileParsed(parseWorkflow(source), options);
}

/** Check, lower, emit: the stages behind the parser, for whoever has something to do between them. */
export async function compileParsed(parsed: ParsedWorkflow, options: CompileOptions = {}): Promise<Compiled> {
  const { workflow, python } = parsed;
  const findings = [...parsed.findings, ...(await checkSources(python))];
  if (!workflow || hasErrors(findings)) return { findings };
  const stateMachine = toStateMachine(workflow, options);
  const definition = JSON.stringify(stateMachine);
  findings.push(...checkSize(definition, nodeIndex(workflow).size), ...checkEvents(workflow));
  return hasErrors(findings) ? { findings } : { findings, workflow, stateMachine, definition };
}

function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some((one) => one.severity === "error");
}
