export type { CodeFinding } from "@nova/python";
export type * from "./asl.ts";
export type { SentFacts } from "./check.ts";
export {
  type Compiled,
  compileParsed,
  compileWorkflow,
  type EmitOptions,
  localFunctions,
  toMachine,
  toStateMachine,
} from "./compile-workflow.ts";
