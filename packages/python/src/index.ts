export { checkNodeCode } from "./check-node-code.ts";
export { checkPython, nodeGlobals, type PythonProblem } from "./check-python.ts";
export {
  type CodeKeys,
  findAssignedKeys,
  findLookedUpKeys,
  listContextReads,
  readCodeKeys,
  setsBranchDecision,
} from "./code-keys.ts";
export { type CodeFinding, codeFindings } from "./findings/codes.ts";
export type { NodeFacts } from "./findings/subject.ts";
export { findNearKey } from "./findings/suggest.ts";
export { listImportableModules } from "./known/packages.ts";
export { createModuleFinder, findNeededModules } from "./modules-needed.ts";
export { findReboundContext } from "./rebound-context.ts";
export { type ContextShape, shapeOf, type ValueShape } from "./shape.ts";
