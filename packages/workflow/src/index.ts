export { nameToResolve, reservedKey } from "./authored/field-check.ts";
export { labelNamePattern, longestLabel } from "./authored/fields.ts";
export { AuthoredOnFailure, isMailAddress, onFailureOf } from "./authored/on-failure.ts";
export type { AuthoredWorkflow } from "./authored/workflow.ts";
export { action, approval, decision, defineWorkflow, end, map, start, wait, workflow } from "./builder.ts";
export { pastTimes, secretKeys } from "./check/fields.ts";
export { DeadlineWorker, serve } from "./deadline/deadline-worker.ts";
export { defined } from "./defined.ts";
export {
  asWildcard,
  checkPattern,
  isOperation,
  type Leaf,
  leavesAt,
  type Matchable,
  type MatchableObject,
  matchesPattern,
  numberText,
  pathsInPattern,
  replaceTexts,
} from "./event-pattern/pattern.ts";
export { type Finding, type FindingCode, finding, findings } from "./findings/finding.ts";
export { type Fork, forksOf, joinOf } from "./graph/branching.ts";
export {
  conditionLabel,
  defaultLabel,
  type IndexedNode,
  isInLoop,
  nodeIndex,
  nodesBefore,
  onErrorOf,
  startOf,
  timeoutLabel,
} from "./graph/edges.ts";
export { canReach, graphOf, lastToFirst, reachableFrom } from "./graph/graph.ts";
export { checkSchema } from "./inputs/check-schema.ts";
export { checkContext, checkData } from "./inputs/within-time.ts";
export { isSameJson } from "./json/digits.ts";
export {
  type ExactValue,
  isRawNumber,
  keepingDigits,
  objectOf,
  parseExact,
  textOfJson,
  type WrittenJson,
} from "./json/exact.ts";
export { halfCharacterIn } from "./json/scan.ts";
export { jsonProblem, NotStrictJson, StrictJson, Utf8Check } from "./json/strict.ts";
export {
  deepestNesting,
  elementsOf,
  isJson,
  isKey,
  type Member,
  maskValue,
  measureOf,
  memberOf,
  membersOf,
  objectText,
  parsedOrNot,
  RawJson,
  renderJson,
  type StringSpan,
  stringsIn,
  utf8In,
  valueAt,
} from "./json/text.ts";
export {
  analysisFileOf,
  codeFileOf,
  codeFileText,
  codeHashOf,
  hashOf,
  type Ingredients,
  type LockedCode,
  type LockRecord,
  lockedCodeOf,
  lockFileName,
  lockText,
  type ReadLock,
  readLockFile,
} from "./lock/lock-file.ts";
export {
  isLong,
  longestNodeSeconds,
  longestWaitedSeconds,
  maxChecks,
  pauseSeconds,
  sandboxMarginSeconds,
} from "./long-node.ts";
export { locateInProgram } from "./parse/document.ts";
export { slugOf } from "./parse/fields.ts";
export type { PartOfDraft } from "./parse/part.ts";
export type { PythonSource, WorkflowSource } from "./parse/read.ts";
export { type ParsedWorkflow, parseWorkflow } from "./parse-workflow.ts";
export { normalName, type Reference, referencesIn } from "./references/grammar.ts";
export {
  type ContextData,
  currentNodeKey,
  idPrefix,
  type MissingReference,
  mappingKey,
  mappingOf,
  type RenderedPrompt,
  renderPrompt,
} from "./references/render.ts";
export {
  errorAliases,
  heedsRetryAfter,
  type Retry,
  type RunErrorClass,
  retriedError,
  retriedErrors,
  retryAfterSeconds,
  retryWaits,
  runErrors,
  secondsAfter,
} from "./retry.ts";
export { dueAfter, parseExpression } from "./schedule/expression.ts";
export { isTimeZone, timeOf } from "./schedule/zone.ts";
export {
  demandLeadsInside,
  isFileOfFolder,
  isWorkflowFolder,
  OutsideFolder,
  openInside,
  readWorkflowSource,
  WorkflowSourceError,
} from "./source/read-source.ts";
export { onlyPath, templateParts } from "./template/template.ts";
export {
  namesPackages,
  pipLine,
  promisedPackages,
  templateLines,
  templateName,
  templatePackages,
} from "./template-packages.ts";
export type * from "./workflow.ts";
export { defaultIdleSeconds } from "./workflow.ts";
export { runHash, sorted, workflowHash, workflowText, writeWorkflow } from "./write/write-workflow.ts";
