export { defaultLabel, labelOf } from "./condition.ts";
export type { RunErrorClass } from "./run-errors.ts";
export { runErrors } from "./run-errors.ts";
export type * from "./workflow.ts";
