export type * from "./asl.ts";
export { type Compiled, compileParsed, compileWorkflow } from "./compile-workflow.ts";
export type { FunctionArns } from "./emit/functions.ts";
export { UncheckedWorkflow } from "./lower/unchecked.ts";
export { localFunctions, toStateMachine } from "./to-state-machine.ts";
