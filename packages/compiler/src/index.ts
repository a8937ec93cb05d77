export type * from "./asl.ts";
export { type Compiled, compileParsed, compileWorkflow } from "./compile-workflow.ts";
export { type EmitOptions, localFunctions, toMachine, toStateMachine } from "./to-state-machine.ts";
