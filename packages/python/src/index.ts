export { checkNodeCode } from "./check-node-code.ts";
export { checkPython, findReboundContext, nodeGlobals, type PythonProblem } from "./check-python.ts";
export {
  type CodeKeys,
  findAssignedKeys,
  findLookedUpKeys,
  listContextReads,
  readCodeKeys,
  setsBranchDecision,
} from "./code-keys.ts";
export { createModuleFinder, findNeededModules } from "./findings/imports.ts";
export type { NodeFacts } from "./findings/subject.ts";
export { type CodeFinding, codeFindings } from "./findings/subject.ts";
export { findNearKey } from "./findings/suggest.ts";
export { listImportableModules } from "./known/packages.ts";
export { type ContextShape, shapeOf, type ValueShape } from "./shape.ts";
