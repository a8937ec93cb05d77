export { labelNamePattern, longestLabel } from "./authored/fields.ts";
export { AuthoredOnFailure, onFailureOf } from "./authored/on-failure.ts";
export type { AuthoredWorkflow } from "./authored/workflow.ts";
export { action, approval, decision, defineWorkflow, end, map, start, wait, workflow } from "./builder.ts";
export { pastTimes, secretKeys } from "./check/fields.ts";
export { DeadlineWorker } from "./deadline/deadline-worker.ts";
export { serve } from "./deadline/serve.ts";
export { defined } from "./defined.ts";
export {
  asWildcard,
  isOperation,
  type Leaf,
  type Matchable,
  type MatchableObject,
  numberText,
} from "./event-pattern/operators.ts";
export { checkPattern, leavesAt, matchesPattern, pathsInPattern, replaceTexts } from "./event-pattern/pattern.ts";
export { nameToResolve } from "./field-checks/ports.ts";
export { reservedKey } from "./field-checks/reserved.ts";
export { type Finding, type FindingCode, finding, findings } from "./findings/finding.ts";
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
export { type Fork, forksOf, joinOf } from "./graph/forks.ts";
export { canReach, graphOf, lastToFirst, reachableFrom } from "./graph/graph.ts";
export type { EntryEvents, HistoryBudget } from "./history-budget.ts";
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
  type Ingredients,
  type LockedCode,
  type LockRecord,
  lockFileName,
  lockText,
} from "./lock/lock-file.ts";
export { codeFileText, codeHashOf, hashOf, lockedCodeOf, type ReadLock, readLockFile } from "./lock/read-lock.ts";
export {
  isLong,
  longestNodeSeconds,
  longestWaitedSeconds,
  maxChecks,
  pauseSeconds,
  sandboxMarginSeconds,
} from "./long-node.ts";
export { isMailAddress, type OnFailure } from "./on-failure.ts";
export { slugOf } from "./parse/fields.ts";
export { locateInProgram } from "./parse/locate.ts";
export type { PartOfDraft } from "./parse/part.ts";
export type { PythonSource, WorkflowSource } from "./parse/read.ts";
export { type ParsedWorkflow, parseWorkflow } from "./parse-workflow.ts";
export { normalName, type Reference, referencesIn } from "./references/grammar.ts";
export { type ContextData, currentNodeKey, idPrefix, mappingKey, mappingOf } from "./references/lookup.ts";
export { type MissingReference, type RenderedPrompt, renderPrompt } from "./references/render.ts";
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
export { demandLeadsInside, OutsideFolder, openInside } from "./source/open-inside.ts";
export { isFileOfFolder, isWorkflowFolder, readWorkflowSource, WorkflowSourceError } from "./source/read-source.ts";
export { onlyPath, templateParts } from "./template/template.ts";
export {
  namesPackages,
  pipLine,
  promisedPackages,
  templateLines,
  templateName,
  templatePackages,
} from "./template-packages.ts";
export { runHash, sorted, workflowHash, workflowText } from "./text.ts";
export type * from "./trigger.ts";
export type * from "./workflow.ts";
export { defaultIdleSeconds } from "./workflow.ts";
export { writeWorkflow } from "./write/write-workflow.ts";
