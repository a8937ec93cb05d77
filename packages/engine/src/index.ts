export { type ExactValue, isRawNumber, parseExact } from "@nova/workflow";
export type { CloseStatus, FailureRecord, Head } from "./chain/head.ts";
export { linkName } from "./chain/link-name.ts";
export { itemsOf } from "./chain/scope.ts";
export { addSpendings } from "./chain/spending.ts";
export { createTailCache } from "./chain/tail-cache.ts";
export { type Changes, Context } from "./context/context.ts";
export { leafLimitBytes, valueLimitBytes } from "./context/offload.ts";
export { asReference, asWritten, referenceKey, referencesIn } from "./context/references.ts";
export { BlobMismatch, BlobMissing, NovaError, StoreUnavailable } from "./errors.ts";
export { Utf8Check } from "./json/scan.ts";
export { jsonProblem, NotStrictJson, StrictJson } from "./json/strict.ts";
export {
  elementsOf,
  type Member,
  maskValue,
  membersOf,
  nestingOf,
  objectText,
  RawJson,
  renderJson,
  valueAt,
} from "./json/text.ts";
export type { FollowTime } from "./kinds/code/follow.ts";
export {
  cancelExecution,
  closeExecution,
  executionEnded,
  failExecution,
  type Swept,
  sweep,
  sweepExecution,
  sweepRuns,
} from "./kinds/executions.ts";
export { type JoinEvent, joinFork } from "./kinds/join-fork.ts";
export { noBudgets } from "./kinds/prompt/means.ts";
export { wholeValue } from "./kinds/prompt/whole-value.ts";
export { runNode, type SettleEvent, settleNode } from "./kinds/run-node.ts";
export { type FileInPlace, type FileInput, newFileMark, type StartFile } from "./kinds/start/files.ts";
export { deepestNesting, InputsRefused } from "./kinds/start/inputs.ts";
export {
  beginExecution,
  freshProblem,
  promptNodes,
  type StartRequest,
  startExecution,
} from "./kinds/start/start.ts";
export { sweepIdle } from "./kinds/task/sweep-idle.ts";
export { createWarmPool } from "./kinds/task/warm-pool.ts";
export { type Answer, type Answered, answerTask, formOf } from "./kinds/waiting/answer.ts";
export { deliverEvent } from "./kinds/waiting/events.ts";
export type { TaskName } from "./kinds/waiting/find-task.ts";
export { approveCommand } from "./kinds/waiting/message.ts";
export { AnswerMisfit, AnswerRefused } from "./kinds/waiting/refusals.ts";
export { type RequestEvent, type Requested, requestApproval } from "./kinds/waiting/request.ts";
export { callLink, WaitOver } from "./kinds/waiting/resume.ts";
export { executionOfToken } from "./kinds/waiting/resume-link.ts";
export { noTasks, type SweptTasks, sweepTasks } from "./kinds/waiting/sweep-tasks.ts";
export type { WaitsFor } from "./kinds/waits-for.ts";
export type * from "./ports/blobs.ts";
export type * from "./ports/chain.ts";
export type * from "./ports/credentials.ts";
export type * from "./ports/executions.ts";
export type * from "./ports/index.ts";
export { HostRefused, type OutgoingFetch } from "./ports/outgoing.ts";
export type * from "./ports/pipeline.ts";
export { pinnedPlaces } from "./ports/pipeline.ts";
export type * from "./ports/process-memory.ts";
export type * from "./ports/sandboxes.ts";
export type * from "./ports/tasks.ts";
export type * from "./ports/workflows.ts";
export type { SettleAnswer } from "./protocol/answer.ts";
export type { CloseRequest } from "./protocol/close.ts";
export type { CaughtError, EndAnswer, NodeEvent, RunningAnswer, RunPosition, TaskAnswer } from "./protocol/event.ts";
export type { Closed } from "./protocol/finish-close.ts";
export { createEndings, createInFlight } from "./protocol/in-flight.ts";
export { reasonOf } from "./protocol/settling.ts";
export { ExecutionNotFound, executionOf } from "./protocol/status.ts";
export { interruptedError, noRuns, type TimeBudget } from "./protocol/sweep.ts";
export { type PublishRequest, publishWorkflow } from "./publish-workflow.ts";
export type { Forecast } from "./restart/forecast.ts";
export { planRestart, RestartRefused, type RestartRequest, restartExecution } from "./restart/restart.ts";
export { CredentialLocked, openContent, ownerText, replacing, sealRecord } from "./secrets/credentials/content.ts";
export { createCredentials } from "./secrets/credentials/create-credentials.ts";
export { type CredentialValues, checkValues, kindNames as credentialKindNames } from "./secrets/credentials/kinds.ts";
export { emptyOverlay, noCredentials } from "./secrets/overlay.ts";
export type { AiMetadata, AnalysisMetadata, Attempt } from "./trace/ai-metadata.ts";
export { type AtWork, type MapProgress, type NodeAtWork, nothingAtWork } from "./trace/at-work.ts";
export { contextAt, historyOf, type KeyChange, rollback } from "./trace/history.ts";
export { erasedWords } from "./trace/misfit.ts";
export { readTrace, type Trace } from "./trace/read-trace.ts";
export { readTraceLink } from "./trace/read-trace-link.ts";
export { furtherScopes, type RunHead, runHeads } from "./trace/run-heads.ts";
export { type LogPlace, type PrintedSince, runningLog } from "./trace/running-log.ts";
export type { TraceBranch, TraceEntry } from "./trace/trace-entry.ts";
export type { TraceStep } from "./trace/trace-step.ts";
export { type Verification, verifyExecution } from "./trace/verify.ts";
