export type * from "./asl.ts";
export {
  type Compiled,
  compileParsed,
  compileWorkflow,
  type EmitOptions,
  localFunctions,
  toMachine,
  toStateMachine,
} from "./compile-workflow.ts";
