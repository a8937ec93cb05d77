export type * from "./asl.ts";
export type { FunctionArns } from "./emit/task.ts";
export { labelOf } from "./lower/label.ts";
export { UncheckedWorkflow } from "./lower/lower.ts";
export { localFunctions, toStateMachine } from "./to-state-machine.ts";
