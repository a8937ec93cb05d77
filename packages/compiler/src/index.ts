export type * from "./asl.ts";
export { type Compiled, compileParsed, compileWorkflow } from "./compile-workflow.ts";
export type { FunctionArns } from "./emit/frame.ts";
export { countEvents } from "./events/count-events.ts";
export { inlineItems } from "./events/inline-items.ts";
export { lower } from "./lower/lower.ts";
export { type Plan, UncheckedWorkflow } from "./lower/plan.ts";
export { type EmitOptions, localFunctions, type Machine, toMachine, toStateMachine } from "./to-state-machine.ts";
