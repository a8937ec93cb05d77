export { setsBranchDecision } from "./branch-decision.ts";
export type { PythonProblem } from "./check-python.ts";
export { checkPython, nodeGlobals } from "./check-python.ts";
export { type KeySet, keysSet } from "./keys-set.ts";
export { reboundContext } from "./rebound-context.ts";
export type { ContextShape, ValueShape } from "./shape.ts";
