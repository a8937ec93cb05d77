export { checkNodeCode } from "./check-node-code.ts";
export { checkPython, nodeGlobals, type PythonProblem } from "./check-python.ts";
export {
  type CodeKeys,
  codeKeys,
  contextReads,
  keysLookedUp,
  keysSet,
  setsBranchDecision,
} from "./code-keys.ts";
export { type CodeFinding, codeFindings } from "./findings/codes.ts";
export type { NodeFacts } from "./findings/subject.ts";
export { nearKey } from "./findings/suggest.ts";
export { importableModules } from "./known/packages.ts";
export { foreignModules, modulesNeeded } from "./modules-needed.ts";
export { reboundContext } from "./rebound-context.ts";
export { type ContextShape, shapeOf, type ValueShape } from "./shape.ts";
