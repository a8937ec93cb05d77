export { AuthoredOnFailure, onFailureOf } from "./authored/on-failure.ts";
export type { AuthoredWorkflow } from "./authored/workflow.ts";
export { action, approval, decision, defineWorkflow, end, map, start, wait, workflow } from "./builder.ts";
export { pastTimes } from "./check/past-times.ts";
export { DeadlineWorker } from "./deadline/deadline-worker.ts";
export { serve } from "./deadline/serve.ts";
export { CheckStopped } from "./deadline/stopped.ts";
export { checkPattern } from "./event-pattern/check-pattern.ts";
export { type Leaf, type Matchable, type MatchableObject, numberText } from "./event-pattern/leaf.ts";
export { leavesAt, matchesPattern } from "./event-pattern/matches-pattern.ts";
export { isOperation } from "./event-pattern/operators.ts";
export { pathsInPattern, replaceTexts } from "./event-pattern/pattern-texts.ts";
export { asWildcard } from "./event-pattern/wildcard.ts";
export { reservedKey } from "./field-checks/reserved.ts";
export type { Finding, FindingCode } from "./findings/finding.ts";
export { finding, findings } from "./findings/finding.ts";
export { conditionLabel, defaultLabel, timeoutLabel } from "./graph/condition.ts";
export type { Fork, ForkBranch } from "./graph/forks.ts";
export { forksOf, joinOf } from "./graph/forks.ts";
export { nodesBefore } from "./graph/loops.ts";
export type { IndexedNode } from "./graph/node-index.ts";
export { nodeIndex } from "./graph/node-index.ts";
export type { EntryEvents, HistoryBudget } from "./history-budget.ts";
export { checkContext, checkData } from "./inputs/within-time.ts";
export { type ExactValue, isRawNumber, parseExact, type RawNumber } from "./json/exact.ts";
export { halfCharacterIn } from "./json/half-characters.ts";
export { keepingDigits, textOfJson, type WrittenJson } from "./json/keeping-digits.ts";
export { analysisFileOf, codeFileOf, type LockRecord, lockFileName, lockText } from "./lock/lock-file.ts";
export type { Ingredients, LockedCode } from "./lock/locked-code.ts";
export {
  codeFileText,
  codeHashOf,
  hashOf,
  lockedCodeOf,
  type ReadLock,
  type ReadLockFile,
  readLockFile,
} from "./lock/read-lock.ts";
export {
  isLong,
  longestNodeSeconds,
  longestWaitedSeconds,
  looksAfter,
  pauseSeconds,
  sandboxMarginSeconds,
} from "./long-node.ts";
export { type FailureWebhook, isMailAddress, type OnFailure } from "./on-failure.ts";
export { slugOf } from "./parse/identity.ts";
export { relocate } from "./parse/locate.ts";
export type { PythonSource, WorkflowSource } from "./parse/source.ts";
export type { ParsedWorkflow } from "./parse-workflow.ts";
export { parseWorkflow } from "./parse-workflow.ts";
export { earlierErrorNames, type Retry, retriedError, retriedErrors, retryWaits, secondsAfter } from "./retry.ts";
export type { RunErrorClass } from "./run-errors.ts";
export { runErrors } from "./run-errors.ts";
export { dueAfter, type Expression, parseExpression } from "./schedule/expression.ts";
export { demandLeadsInside, OutsideFolder, openInside } from "./source/open-inside.ts";
export { isFileOfFolder, isWorkflowFolder, readWorkflowSource, WorkflowSourceError } from "./source/read-source.ts";
export type { TemplatePart } from "./template/template.ts";
export { onlyPath, templateParts } from "./template/template.ts";
export { timeOf } from "./template/time.ts";
export { templateName } from "./template-name.ts";
export { promisedPackages, templatePackages } from "./template-packages.ts";
export { runHash, workflowHash, workflowText } from "./text.ts";
export { cronProblem } from "./time/cron.ts";
export { isTimeZone } from "./time/zone.ts";
export type * from "./trigger.ts";
export type * from "./workflow.ts";
export { writeWorkflow } from "./write/write-workflow.ts";
